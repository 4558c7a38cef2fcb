//! Owns the server's store of blobs: what is missing there is sent, and what comes back is what its digest says.

use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use bazel_remote_apis::google::bytestream;
use tonic::Code;
use tonic::codegen::tokio_stream;
use tonic::transport::Channel;

use crate::trial::runner::merkle::Digest;
use crate::trial::runner::remote::call::{Clock, Trouble};
use crate::trial::runner::{Unknown, verdict};

/// Digests of one question.
const ASKED: usize = 10_000;
/// Bytes of one piece of a stream.
const PIECE: usize = 1 << 20;
/// What a blob costs in a batch beside its bytes.
const HEAD: usize = 128;

/// The store of a server.
pub(super) struct Store<'a> {
    pub(super) channel: Channel,
    pub(super) instance: &'a str,
    /// Most bytes of a batch.
    pub(super) most: usize,
}

impl Store<'_> {
    /// Sends what the server has not.
    pub(super) async fn send(&self, blobs: &[(&Digest, &[u8])], clock: &Clock) -> Result<(), Trouble> {
        for some in blobs.chunks(ASKED) {
            let missing = self.missing(some, clock).await?;
            let (large, small): (Vec<_>, Vec<_>) = missing.into_iter().partition(|(_, bytes)| bytes.len() + HEAD > self.most);
            for batch in batches(&small, self.most) {
                self.batch(batch, clock).await?;
            }
            for (digest, bytes) in large {
                self.stream(digest, bytes, clock).await?;
            }
        }
        Ok(())
    }

    async fn missing<'b>(&self, some: &[(&'b Digest, &'b [u8])], clock: &Clock) -> Result<Vec<(&'b Digest, &'b [u8])>, Trouble> {
        if some.is_empty() {
            return Ok(Vec::new());
        }
        let request = api::FindMissingBlobsRequest {
            instance_name: self.instance.to_owned(),
            blob_digests: some.iter().map(|(digest, _)| message(digest)).collect(),
            digest_function: api::digest_function::Value::Sha256 as i32,
        };
        let mut client = api::content_addressable_storage_client::ContentAddressableStorageClient::new(self.channel.clone());
        let answer = clock.call(client.find_missing_blobs(request)).await?.into_inner();
        let wanted = |digest: &Digest| answer.missing_blob_digests.iter().any(|missing| missing.hash == digest.hash);
        Ok(some.iter().filter(|(digest, _)| wanted(digest)).copied().collect())
    }

    async fn batch(&self, batch: &[(&Digest, &[u8])], clock: &Clock) -> Result<(), Trouble> {
        let one = |(digest, bytes): &(&Digest, &[u8])| api::batch_update_blobs_request::Request {
            digest: Some(message(digest)),
            data: bytes.to_vec(),
            compressor: 0,
        };
        let request = api::BatchUpdateBlobsRequest {
            instance_name: self.instance.to_owned(),
            requests: batch.iter().map(one).collect(),
            digest_function: api::digest_function::Value::Sha256 as i32,
        };
        let mut client = api::content_addressable_storage_client::ContentAddressableStorageClient::new(self.channel.clone());
        let answer = clock.call(client.batch_update_blobs(request)).await?.into_inner();
        let bad = answer.responses.into_iter().filter_map(|response| response.status).find(|status| status.code != 0);
        bad.map_or(Ok(()), |status| Err(Trouble::of_code(Code::from(status.code), &status.message)))
    }

    async fn stream(&self, digest: &Digest, bytes: &[u8], clock: &Clock) -> Result<(), Trouble> {
        let name = format!("{}uploads/{}/blobs/{}/{}", self.head(), uuid(digest), digest.hash, digest.size);
        let count = bytes.len().div_ceil(PIECE);
        let pieces: Vec<bytestream::WriteRequest> = bytes
            .chunks(PIECE)
            .enumerate()
            .map(|(at, piece)| bytestream::WriteRequest {
                resource_name: if at == 0 { name.clone() } else { String::new() },
                write_offset: i64::try_from(at * PIECE).unwrap_or(i64::MAX),
                finish_write: at + 1 == count,
                data: piece.to_vec(),
            })
            .collect();
        let mut client = bytestream::byte_stream_client::ByteStreamClient::new(self.channel.clone());
        let answer = clock.call_for(bytes.len(), client.write(tokio_stream::iter(pieces))).await?.into_inner();
        let whole = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        if answer.committed_size == whole { Ok(()) } else { Err(Trouble::Passing("a blob was not taken whole".into())) }
    }

    /// A blob, if it is what its digest says.
    pub(super) async fn fetch(&self, digest: &Digest, clock: &Clock) -> Result<Result<Vec<u8>, Unknown>, Trouble> {
        if digest.size > verdict::CAP {
            return Ok(Err(Unknown::new("bad_verdict", format!("its verdict has {} bytes", digest.size))));
        }
        let is_small = usize::try_from(digest.size).is_ok_and(|size| size + HEAD <= self.most);
        let bytes = if is_small { self.read(digest, clock).await? } else { self.read_stream(digest, clock).await? };
        let found = Digest::of(&bytes);
        if found == *digest {
            return Ok(Ok(bytes));
        }
        Ok(Err(Unknown::new("digest_mismatch", format!("what came back is {}, not {}", found.shown(), digest.shown()))))
    }

    async fn read(&self, digest: &Digest, clock: &Clock) -> Result<Vec<u8>, Trouble> {
        let request = api::BatchReadBlobsRequest {
            instance_name: self.instance.to_owned(),
            digests: vec![message(digest)],
            acceptable_compressors: Vec::new(),
            digest_function: api::digest_function::Value::Sha256 as i32,
        };
        let mut client = api::content_addressable_storage_client::ContentAddressableStorageClient::new(self.channel.clone());
        let answer = clock.call(client.batch_read_blobs(request)).await?.into_inner();
        let first = answer.responses.into_iter().next().ok_or_else(|| Trouble::Missing("the verdict".into()))?;
        match first.status.filter(|status| status.code != 0) {
            Some(status) => Err(Trouble::of_code(Code::from(status.code), &status.message)),
            None => Ok(first.data),
        }
    }

    async fn read_stream(&self, digest: &Digest, clock: &Clock) -> Result<Vec<u8>, Trouble> {
        let resource_name = format!("{}blobs/{}/{}", self.head(), digest.hash, digest.size);
        let mut client = bytestream::byte_stream_client::ByteStreamClient::new(self.channel.clone());
        let request = bytestream::ReadRequest { resource_name, read_offset: 0, read_limit: 0 };
        let mut stream = clock.call(client.read(request)).await?.into_inner();
        let mut bytes = Vec::new();
        while let Some(piece) = clock.call(stream.message()).await? {
            bytes.extend(piece.data);
            if bytes.len() as u64 > digest.size {
                break;
            }
        }
        Ok(bytes)
    }

    fn head(&self) -> String {
        if self.instance.is_empty() { String::new() } else { format!("{}/", self.instance) }
    }
}

/// Runs of blobs whose bytes fit into one message.
fn batches<'s, 'b>(blobs: &'s [(&'b Digest, &'b [u8])], most: usize) -> Vec<&'s [(&'b Digest, &'b [u8])]> {
    let (mut all, mut start, mut size) = (Vec::new(), 0, 0);
    for (at, (_, bytes)) in blobs.iter().enumerate() {
        let more = bytes.len() + HEAD;
        if size + more > most && at > start {
            all.push(&blobs[start..at]);
            (start, size) = (at, 0);
        }
        size += more;
    }
    if start < blobs.len() {
        all.push(&blobs[start..]);
    }
    all
}

/// A digest as a message.
pub(super) fn message(digest: &Digest) -> api::Digest {
    api::Digest { hash: digest.hash.clone(), size_bytes: i64::try_from(digest.size).unwrap_or(i64::MAX) }
}

/// A name for one upload. The same blob by the same process may well have the same one.
fn uuid(digest: &Digest) -> String {
    let seed = crate::digest::sha256_hex(format!("{} {}", std::process::id(), digest.hash).as_bytes());
    format!("{}-{}-4{}-8{}-{}", &seed[..8], &seed[8..12], &seed[12..15], &seed[15..18], &seed[18..30])
}

#[cfg(test)]
mod tests {
    use super::{batches, uuid};
    use crate::trial::runner::merkle::Digest;

    #[test]
    fn batches_fit_into_a_message_and_leave_nothing_out() {
        let bytes: Vec<Vec<u8>> = [10, 900, 900, 10, 10, 2000, 1].map(|size| vec![0; size]).to_vec();
        let digest = Digest::of(b"");
        let blobs: Vec<(&Digest, &[u8])> = bytes.iter().map(|bytes| (&digest, bytes.as_slice())).collect();
        let sizes: Vec<usize> = batches(&blobs, 2000).iter().map(|batch| batch.len()).collect();
        assert_eq!(sizes, [2, 3, 1, 1]);
        assert!(batches(&[], 2000).is_empty());
        assert_eq!(uuid(&digest).len(), 36);
    }
}
