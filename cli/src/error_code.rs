//! The error codes of this program. The errors, the manual page and the tests share this table.
//!
//! With `--json`, the field `error` contains one of these codes, or the code of the backend's problem document. A code
//! never changes, because programs depend on it.

macro_rules! error_codes {
    ($($name:ident = $code:literal, $meaning:literal;)+) => {
        /// The kind of failure, for a program.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub(crate) enum ErrorCode { $(#[doc = $meaning] $name,)+ }

        impl ErrorCode {
            /// Every code, in alphabetical order.
            const ALL: &[Self] = &[$(Self::$name,)+];

            /// Returns the text that programs read.
            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)+ }
            }

            /// Returns the meaning of the code, as the manual page shows it.
            const fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)+ }
            }
        }
    };
}

error_codes! {
    AmbiguousName = "ambiguous-name", "several models or devices have this name";
    BackendNotRunning = "backend-not-running", "the backend of this user does not run";
    Browser = "browser", "no browser could be opened";
    BuildName = "build-name", "the build of an engine has no name, or an invalid name";
    Busy = "busy", "another run of the command changes the same files";
    Cancelled = "cancelled", "the person ended a prompt";
    Catalogue = "catalogue", "the model catalogue is unavailable or not trusted";
    ChecksumMismatch = "checksum-mismatch", "a file does not match its checksum";
    CommandCancelled = "command-cancelled", "the command was cancelled";
    CommandFailed = "command-failed", "the device tried the command and failed";
    CommandRejected = "command-rejected", "the device refused the command";
    Configuration = "configuration", "the configuration of the agent has faults";
    Declined = "declined", "there is nothing to change, or the change is not allowed";
    DeploymentCancelled = "deployment-cancelled", "the deployment was cancelled";
    DeploymentCompleted = "deployment-completed", "the model is deployed, but cannot be served";
    DeploymentFailed = "deployment-failed", "the deployment failed";
    DoesNotChat = "does-not-chat", "the model does not chat; it serves other requests";
    Downgrade = "downgrade", "the release or the plugin is older than what is installed";
    Download = "download", "a download failed";
    EngineDoesNotRun = "engine-does-not-run", "the build of the engine does not run on this machine";
    Expired = "expired", "the command expired before the device received it";
    File = "file", "a file or folder cannot be read or written";
    GaveUp = "gave-up", "the wait timed out; the operation continues";
    Identity = "identity", "the identity of this device cannot be used";
    Input = "input", "the input cannot be read";
    Install = "install", "the installation failed";
    Interrupted = "interrupted", "the agent was interrupted during an update";
    InvalidPlugin = "invalid-plugin", "the files of a plugin do not form a usable plugin";
    KeyMistyped = "key-mistyped", "the key is incomplete or mistyped";
    LeftBehind = "left-behind", "the uninstallation left files behind";
    LoggedInElsewhere = "logged-in-elsewhere", "this user is logged in to another backend";
    ManPages = "man-pages", "the manual pages cannot be generated";
    NoBackend = "no-backend", "the program of the backend is not installed";
    NoBuild = "no-build", "no build of the engine runs on this machine";
    NoEngine = "no-engine", "the archive or folder holds no engine, or none could be downloaded";
    NoHome = "no-home", "the user has no home folder";
    NoKey = "no-key", "no key was given, or the file holds none";
    NoPort = "no-port", "no port is free for the backend";
    NoRandomness = "no-randomness", "the system provides no random numbers";
    NoSpace = "no-space", "the disk is full";
    NotAModel = "not-a-model", "the file is not a model that can be served";
    NotDeployed = "not-deployed", "the model is not deployed on this device";
    NotInstalled = "not-installed", "the agent is not installed";
    NotIntact = "not-intact", "the version is not installed, or its files were altered";
    NotLoggedIn = "not-logged-in", "nobody is logged in";
    NotRegistered = "not-registered", "the device is not registered";
    NotRunning = "not-running", "the agent does not run";
    NotServing = "not-serving", "the model is not served";
    NothingSelected = "nothing-selected", "the selection matches no device";
    OtherDevice = "other-device", "the command works on that device alone";
    OtherHome = "other-home", "the home folder belongs to another user";
    Output = "output", "the output cannot be written";
    Pin = "pin", "the file at a URL cannot be read to pin its checksum";
    Redirected = "redirected", "the server redirects to another address";
    Refused = "refused", "the server refused without a code of its own";
    RegisteredElsewhere = "registered-elsewhere", "the device is registered with another backend";
    RolledBack = "rolled-back", "an update was rolled back";
    Runtime = "runtime", "the command cannot start its runtime";
    SelfCheck = "self-check", "the new version does not run on this machine";
    Server = "server", "this user runs a backend that was installed as a server";
    Service = "service", "the service manager failed";
    SignatureInvalid = "signature-invalid", "a release or a plugin is not signed by a trusted key, or was altered";
    SizeUnknown = "size-unknown", "the server does not state the size of the file";
    SomeFailed = "some-failed", "the command failed on some of the selected devices";
    Superseded = "superseded", "a newer command replaced this one";
    Terminal = "terminal", "the terminal cannot be read";
    TooLarge = "too-large", "the model needs more memory than this machine has";
    UnknownName = "unknown-name", "nothing has this name";
    Unpack = "unpack", "the archive of a release cannot be unpacked";
    Unreachable = "unreachable", "the backend or the agent cannot be reached";
    UnsupportedPlatform = "unsupported-platform", "the release is for another system";
    UpdateFailed = "update-failed", "the update failed";
    Usage = "usage", "wrong usage";
}

/// Returns the table for the manual page: one line per code.
pub(crate) fn table() -> String {
    let line = |code: &ErrorCode| format!("  {:<22}{}\n", code.as_str(), code.meaning());
    ErrorCode::ALL.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_the_committed_ones() {
        let golden = include_str!("error_code/golden.txt");
        assert_eq!(table(), golden, "a program decides by these: add codes, change none");
    }

    #[test]
    fn codes_are_unique_and_in_order() {
        let codes: Vec<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        assert!(codes.windows(2).all(|pair| pair[0] < pair[1]), "{codes:?}");
    }
}
