//! Owns the witness ledger: values, their generator and reducers, the pin, the ledger, the decision and the promoted fixtures. No project code runs here.

pub mod decide;
pub mod generate;
pub mod ledger;
mod literal;
mod order;
pub mod pin;
pub mod promote;
mod shape;
pub mod shrink;
mod stream;
pub mod value;
