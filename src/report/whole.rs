//! Files that are there whole or not at all: written beside their place and renamed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// How a file comes to its path.
enum Way {
    /// Beside the path and renamed. A link is followed: what it leads to is replaced, the link stays.
    Beside(PathBuf),
    /// Pipes and devices, and files of a folder in which nothing new may be made.
    Directly(PathBuf),
}

impl Way {
    fn to(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(known) if known.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
            Ok(known) if known.is_file() => {
                // A file that may not be written is not replaced either.
                drop(File::options().write(true).open(path)?);
                let real = path.canonicalize()?;
                match neighbour(&real) {
                    Ok(_) => Ok(Self::Beside(real)),
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(Self::Directly(real)),
                    Err(error) => Err(error),
                }
            }
            Ok(_) => Ok(Self::Directly(path.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                neighbour(path)?;
                Ok(Self::Beside(path.to_owned()))
            }
            Err(error) => Err(error),
        }
    }
}

/// A hidden file in the same folder, gone when it is dropped.
fn neighbour(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".mcptally-");
    // As other files are made: what the user's mask leaves of reading and writing.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// Whether a file can be written later. Leaves everything as it is.
///
/// # Errors
/// A folder, a path below a file or in no folder, a place where one may not write.
pub fn probe(path: &Path) -> io::Result<()> {
    Way::to(path).map(drop)
}

/// Writes a file through `fill`. Where that fails, what stood there before still stands there.
///
/// # Errors
/// Those of [`probe`] and of `fill`.
pub fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    match Way::to(path)? {
        Way::Beside(path) => {
            let mut file = BufWriter::new(neighbour(&path)?);
            fill(&mut file)?;
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            if let Ok(known) = fs::metadata(&path) {
                file.as_file().set_permissions(known.permissions())?;
            }
            file.persist(&path).map(drop).map_err(|error| error.error)
        }
        Way::Directly(path) => {
            let mut file = BufWriter::new(File::create(path)?);
            fill(&mut file)?;
            file.flush()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_failure_leaves_what_was_there_and_nothing_new() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        let fail = |out: &mut dyn Write| out.write_all(b"half").and(Err(io::Error::other("no more")));
        probe(&path).unwrap();
        assert!(write(&path, fail).is_err());
        assert!(names(folder.path()).is_empty());
        write(&path, |out| out.write_all(b"whole")).unwrap();
        assert!(write(&path, fail).is_err());
        assert_eq!((names(folder.path()).len(), fs::read_to_string(&path).unwrap().as_str()), (1, "whole"));
    }

    #[test]
    fn places_that_hold_no_file_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        for wrong in ["", "file/below", "nowhere/report.json"] {
            assert!(probe(&folder.path().join(wrong)).is_err(), "{wrong}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay_and_devices_are_written() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        write(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(link.is_symlink());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        write(Path::new("/dev/null"), |out| out.write_all(b"gone")).unwrap();
    }
}
