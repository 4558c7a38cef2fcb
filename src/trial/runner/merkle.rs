//! Owns the messages that name a job: folders, command and action, in the bytes of the Remote Execution API, so that every runner's record has the same digests.

use std::collections::BTreeMap;

use crate::digest;

/// A digest of bytes: SHA-256 and size.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest {
    /// Lower-case hex.
    pub hash: String,
    /// Bytes.
    pub size: u64,
}

impl Digest {
    /// Of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Digest { hash: digest::sha256_hex(bytes), size: bytes.len() as u64 }
    }

    /// `hash/size`.
    pub fn shown(&self) -> String {
        format!("{}/{}", self.hash, self.size)
    }

    fn message(&self) -> Message {
        Message::default().text(1, &self.hash).number(2, self.size)
    }
}

/// What stands at a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A file.
    File {
        /// Its bytes.
        digest: Digest,
        /// Whether it can be run.
        is_executable: bool,
    },
    /// A link, by its text.
    Link(String),
    /// A folder.
    Folder(Folder),
    /// A folder whose messages are with somebody else already.
    Sealed(Digest),
}

/// A folder by names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    /// What it holds.
    pub nodes: BTreeMap<String, Node>,
}

impl Folder {
    /// Puts a node at a path of names, making the folders on the way. What is no folder on the way stays, and nothing is put.
    pub fn put(&mut self, path: &[&str], node: Node) {
        match path {
            [] => {}
            [name] => {
                self.nodes.insert((*name).to_owned(), node);
            }
            [name, rest @ ..] => {
                let entry = self.nodes.entry((*name).to_owned()).or_insert_with(|| Node::Folder(Folder::default()));
                if let Node::Folder(folder) = entry {
                    folder.put(rest, node);
                }
            }
        }
    }

    /// The same folder with the folders in it sealed; `blobs` gets their messages.
    #[must_use]
    pub fn shallow(self, blobs: &mut BTreeMap<Digest, Vec<u8>>) -> Self {
        let mut seal = |node| if let Node::Folder(folder) = node { Node::Sealed(folder.seal(blobs)) } else { node };
        Folder { nodes: self.nodes.into_iter().map(|(name, node)| (name, seal(node))).collect() }
    }

    /// The digest of the folder; `blobs` gets the bytes of its message and of those below.
    pub fn seal(&self, blobs: &mut BTreeMap<Digest, Vec<u8>>) -> Digest {
        let (mut files, mut folders, mut links) = (Message::default(), Message::default(), Message::default());
        for (name, node) in &self.nodes {
            match node {
                Node::File { digest, is_executable } => {
                    let file = Message::default().text(1, name).message(2, &digest.message()).number(4, u64::from(*is_executable));
                    files = files.message(1, &file);
                }
                Node::Folder(folder) => folders = folders.message(2, &named(name, &folder.seal(blobs))),
                Node::Sealed(sealed) => folders = folders.message(2, &named(name, sealed)),
                Node::Link(target) => links = links.message(3, &Message::default().text(1, name).text(2, target)),
            }
        }
        let bytes = [files.0, folders.0, links.0].concat();
        let digest = Digest::of(&bytes);
        blobs.insert(digest.clone(), bytes);
        digest
    }
}

fn named(name: &str, sealed: &Digest) -> Message {
    Message::default().text(1, name).message(2, &sealed.message())
}

/// What a job runs: `Command`.
#[derive(Clone, Debug)]
pub struct Command<'a> {
    /// The arguments, the program first.
    pub arguments: &'a [String],
    /// The environment, by name.
    pub environment: &'a BTreeMap<String, String>,
    /// The one file that comes back.
    pub output: &'a str,
    /// The folder of the input root that it is run in; empty is the root.
    pub folder: &'a str,
    /// What the machine must be.
    pub platform: &'a BTreeMap<String, String>,
}

impl Command<'_> {
    /// Its message. The output stands in the old field and in the new one, for servers of either age.
    pub fn bytes(&self) -> Vec<u8> {
        let arguments = self.arguments.iter().fold(Message::default(), |message, argument| message.item(1, argument));
        let pair = |(name, value): (&String, &String)| Message::default().text(1, name).text(2, value);
        let environment = self.environment.iter().map(pair).fold(arguments, |message, variable| message.message(2, &variable));
        let output = environment.item(3, self.output);
        let output = if self.platform.is_empty() { output } else { output.message(5, &platform(self.platform)) };
        output.text(6, self.folder).item(7, self.output).0
    }
}

fn platform(properties: &BTreeMap<String, String>) -> Message {
    let pair = |(name, value): (&String, &String)| Message::default().text(1, name).text(2, value);
    properties.iter().map(pair).fold(Message::default(), |message, property| message.message(1, &property))
}

/// What is asked for: `Action`.
#[derive(Clone, Debug)]
pub struct Action<'a> {
    /// The command.
    pub command: &'a Digest,
    /// The input root.
    pub input_root: &'a Digest,
    /// How long it may take, in seconds.
    pub timeout: u64,
    /// Whether nothing may remember its result.
    pub is_never_cached: bool,
    /// What else makes it another action.
    pub salt: &'a str,
    /// What the machine must be.
    pub platform: &'a BTreeMap<String, String>,
}

impl Action<'_> {
    /// Its message.
    pub fn bytes(&self) -> Vec<u8> {
        let message = Message::default().message(1, &self.command.message()).message(2, &self.input_root.message());
        let message = message.message(6, &Message::default().number(1, self.timeout)).number(7, u64::from(self.is_never_cached));
        let message = message.text(9, self.salt);
        if self.platform.is_empty() { message.0 } else { message.message(10, &platform(self.platform)).0 }
    }
}

/// A message under construction. As the wire format wants it, what is empty or zero is left out, but for a message that is there.
#[derive(Clone, Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn text(self, field: u8, text: &str) -> Self {
        if text.is_empty() { self } else { self.bytes(field, text.as_bytes()) }
    }

    /// One of several texts: it is there when it is empty, too.
    fn item(self, field: u8, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    fn message(self, field: u8, message: &Message) -> Self {
        self.bytes(field, &message.0)
    }

    fn number(mut self, field: u8, number: u64) -> Self {
        if number > 0 {
            self.0.push(field << 3);
            self.varint(number);
        }
        self
    }

    fn bytes(mut self, field: u8, bytes: &[u8]) -> Self {
        self.0.push(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    fn varint(&mut self, mut number: u64) {
        loop {
            let low = u8::try_from(number & 0x7f).unwrap_or(0);
            number >>= 7;
            self.0.push(if number > 0 { low | 0x80 } else { low });
            if number == 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Action, Command, Digest, Folder, Node};

    #[test]
    fn an_empty_folder_is_the_empty_message_and_order_of_putting_does_not_matter() {
        assert_eq!(Folder::default().seal(&mut BTreeMap::new()), Digest::of(b""));
        let file = |text: &str| Node::File { digest: Digest::of(text.as_bytes()), is_executable: false };
        let (mut one, mut two, mut blobs) = (Folder::default(), Folder::default(), BTreeMap::new());
        one.put(&["a", "b"], file("1"));
        one.put(&["a", "c"], file("2"));
        two.put(&["a", "c"], file("2"));
        two.put(&["a", "b"], file("1"));
        assert_eq!(one.seal(&mut blobs), two.seal(&mut blobs));
        assert_eq!(blobs.len(), 2);
        let (mut apart, mut top) = (BTreeMap::new(), BTreeMap::new());
        assert_eq!(one.clone().shallow(&mut apart).seal(&mut top), one.seal(&mut blobs));
        assert_eq!((apart.len(), top.len()), (1, 1));
    }

    #[test]
    fn a_folder_has_the_bytes_of_the_wire_format() {
        let mut folder = Folder::default();
        let digest = Digest { hash: "ab".into(), size: 300 };
        folder.put(&["x"], Node::File { digest, is_executable: true });
        folder.put(&["l"], Node::Link("x".into()));
        let mut blobs = BTreeMap::new();
        let sealed = folder.seal(&mut blobs);
        // files { name "x" digest { hash "ab" size 300 } is_executable } symlinks { name "l" target "x" }
        let bytes = b"\x0a\x0e\x0a\x01x\x12\x07\x0a\x02ab\x10\xac\x02\x20\x01\x1a\x06\x0a\x01l\x12\x01x";
        assert_eq!(blobs[&sealed], bytes);
    }

    #[test]
    fn command_and_action_have_the_bytes_of_the_wire_format() {
        let environment = BTreeMap::from([("A".to_owned(), "1".to_owned())]);
        let command =
            Command { arguments: &["p".to_owned()], environment: &environment, output: "o", folder: "t", platform: &BTreeMap::new() };
        assert_eq!(command.bytes(), b"\x0a\x01p\x12\x06\x0a\x01A\x12\x011\x1a\x01o\x32\x01t\x3a\x01o");
        let digest = Digest { hash: "ab".into(), size: 1 };
        let action = Action { command: &digest, input_root: &digest, timeout: 2, is_never_cached: true, salt: "s", platform: &environment };
        assert_eq!(
            action.bytes(),
            b"\x0a\x06\x0a\x02ab\x10\x01\x12\x06\x0a\x02ab\x10\x01\x32\x02\x08\x02\x38\x01\x4a\x01s\x52\x08\x0a\x06\x0a\x01A\x12\x011"
        );
    }
}
