//! The table of exit codes for the programs, the help text and the tests.
//!
//! The codes from 10 to 61 are grouped by tens; `install.sh` and the command share them. 69, 75 and
//! 77 have their meaning from `sysexits.h`.

macro_rules! exit_codes {
    ($($name:ident = $code:literal, $meaning:literal;)+) => {
        /// The outcome of a command, with its exit code.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        pub enum ExitCode { $(#[doc = $meaning] $name,)+ }

        impl ExitCode {
            /// Every code, in order.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Returns the number.
            #[must_use]
            pub const fn number(self) -> u8 {
                match self { $(Self::$name => $code,)+ }
            }

            /// Returns the meaning, as in the help text.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)+ }
            }
        }
    };
}

exit_codes! {
    Success = 0, "done, or healthy";
    Failed = 1, "the operation failed";
    Usage = 2, "wrong usage";
    MissingTool = 10, "a required tool is missing";
    CannotWrite = 11, "a file or folder cannot be read or written";
    DownloadFailed = 12, "a download failed";
    UnsupportedPlatform = 13, "this system is not supported";
    NoSpace = 14, "the disk is full";
    Busy = 15, "another installation or update is running, or a folder is in use";
    ChecksumMissing = 20, "the checksum file is invalid or has no entry";
    NoHashTool = 21, "no tool for SHA-256 was found";
    ChecksumMismatch = 22, "a file does not match its checksum";
    SelfCheckFailed = 23, "the program does not run on this machine";
    SignatureInvalid = 24, "a release or a plugin is not signed by a trusted key, or was altered";
    Downgrade = 25, "a release or a plugin is older than what is installed";
    NotRegistered = 30, "the device is not registered";
    KeyRefused = 31, "the key was refused";
    InstalledUnreachable = 32, "installed, but the backend could not be reached to register";
    NotRunning = 41, "the agent was started but does not run";
    RepairIncomplete = 50, "an installation could not be repaired";
    LeftBehind = 60, "the uninstallation left files behind";
    DeregistrationDeferred = 61, "uninstalled, but the backend was unreachable";
    Unreachable = 69, "the backend or the agent is unreachable";
    RolledBack = 70, "an update was rolled back";
    GaveUp = 75, "the wait timed out; the operation continues";
    Refused = 77, "refused by the backend";
    Interrupted = 130, "interrupted";
}

/// Returns the table for the help text.
#[must_use]
pub fn table() -> String {
    let rows =
        ExitCode::ALL.iter().map(|code| format!("  {:>3}  {}\n", code.number(), code.meaning()));
    format!("Exit codes:\n{}", rows.collect::<String>().trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_in_order() {
        let numbers: Vec<_> = ExitCode::ALL.iter().map(|code| code.number()).collect();
        assert!(numbers.is_sorted() && numbers.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
