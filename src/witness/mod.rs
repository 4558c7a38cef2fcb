//! Owns the witness ledger: values, their generator and reducers, the pin, the ledger, the decision and the promoted fixtures. No project code runs here.

pub mod generate;
mod literal;
mod order;
mod shape;
pub mod shrink;
mod stream;
pub mod value;
