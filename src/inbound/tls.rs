//! TLS: certificate and key from files, and new ones without a restart.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::ServerConfig;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// Where the certificate and its key are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate and those that vouch for it, in PEM.
    pub cert: PathBuf,
    /// The certificate's private key, in PEM.
    pub key: PathBuf,
}

/// Makes TLS connections with the newest good files; cheap to clone, and clones share them.
#[derive(Clone)]
pub struct Acceptor(Arc<Shared>);

struct Shared {
    files: TlsFiles,
    current: Mutex<Arc<ServerConfig>>,
}

/// A certificate or key cannot be used.
#[derive(Debug)]
pub struct TlsError {
    file: PathBuf,
    fault: Fault,
}

#[derive(Debug)]
enum Fault {
    Unreadable(io::Error),
    NotPem(pem::Error),
    NoCertificate,
    Refused(rustls::Error),
}

impl Acceptor {
    /// Reads the files.
    ///
    /// # Errors
    ///
    /// [`TlsError`] naming the file that cannot be read, or that does not fit the other.
    pub fn load(files: TlsFiles) -> Result<Self, TlsError> {
        let current = Mutex::new(files.load()?);
        Ok(Self(Arc::new(Shared { files, current })))
    }

    /// Reads the files again, for the connections from now on.
    ///
    /// # Errors
    ///
    /// [`TlsError`] as at the first time; the files that were good before stay in use.
    pub fn reload(&self) -> Result<(), TlsError> {
        let fresh = self.0.files.load()?;
        *self.0.current.lock().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    pub(super) fn current(&self) -> TlsAcceptor {
        let current = self.0.current.lock().unwrap_or_else(PoisonError::into_inner);
        TlsAcceptor::from(Arc::clone(&current))
    }
}

impl TlsFiles {
    fn load(&self) -> Result<Arc<ServerConfig>, TlsError> {
        let at = |file: &Path, fault| TlsError { file: file.to_owned(), fault };
        let chain = read(&self.cert)?;
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&chain)
            .collect::<Result<_, _>>()
            .map_err(|it| at(&self.cert, Fault::NotPem(it)))?;
        if chain.is_empty() {
            return Err(at(&self.cert, Fault::NoCertificate));
        }
        let key = PrivateKeyDer::from_pem_slice(&read(&self.key)?)
            .map_err(|it| at(&self.key, Fault::NotPem(it)))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|it| it.with_no_client_auth().with_single_cert(chain, key))
            .map_err(|it| at(&self.key, Fault::Refused(it)))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

fn read(file: &Path) -> Result<Vec<u8>, TlsError> {
    let unreadable = |it| TlsError { file: file.to_owned(), fault: Fault::Unreadable(it) };
    std::fs::read(file).map_err(unreadable)
}

impl fmt::Debug for Acceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Acceptor({:?})", self.0.files)
    }
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display();
        match &self.fault {
            Fault::Unreadable(_) => write!(f, "read {file}"),
            Fault::NotPem(_) => write!(f, "find what is needed in {file}"),
            Fault::NoCertificate => write!(f, "find a certificate in {file}"),
            Fault::Refused(_) => write!(f, "use {file} with its certificate"),
        }
    }
}

impl std::error::Error for TlsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.fault {
            Fault::Unreadable(cause) => Some(cause),
            Fault::NotPem(cause) => Some(cause),
            Fault::NoCertificate => None,
            Fault::Refused(cause) => Some(cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(files: &TlsFiles) -> String {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        std::fs::write(&files.cert, made.cert.pem()).unwrap();
        std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
        made.cert.pem()
    }

    #[test]
    fn bad_new_files_are_refused_by_name_and_the_good_ones_stay() {
        let dir = tempfile::tempdir().unwrap();
        let files = TlsFiles { cert: dir.path().join("cert.pem"), key: dir.path().join("key.pem") };
        assert!(Acceptor::load(files.clone()).unwrap_err().to_string().contains("cert.pem"));
        write(&files);
        let acceptor = Acceptor::load(files.clone()).unwrap();
        let before = Arc::as_ptr(&acceptor.0.current.lock().unwrap());

        let old_key = std::fs::read(&files.key).unwrap();
        let pem = write(&files);
        std::fs::write(&files.key, old_key).unwrap();
        let wrong: [(&Path, &str, &str); 4] = [
            (&files.key, "", "key.pem with its certificate"),
            (&files.key, "nonsense", "key.pem"),
            (&files.cert, "nonsense", "find a certificate in"),
            (&files.cert, &pem[..pem.len() / 2], "cert.pem"),
        ];
        for (file, text, named) in wrong {
            if !text.is_empty() {
                std::fs::write(file, text).unwrap();
            }
            let error = acceptor.reload().unwrap_err();
            assert!(error.to_string().contains(named), "{error}: {named}");
            assert_eq!(Arc::as_ptr(&acceptor.0.current.lock().unwrap()), before);
        }

        write(&files);
        acceptor.reload().unwrap();
        assert_ne!(Arc::as_ptr(&acceptor.0.current.lock().unwrap()), before);
    }
}
