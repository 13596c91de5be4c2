//! The limits that both ends share, with the unit in the type.
//!
//! Docs of numbers from the specification name its section 8. The other numbers are this project's decisions.

use std::time::Duration;

/// A repair that its device does not acknowledge for this long expires (specification, sections 3.3, 8).
pub const REPAIR_EXPIRY: Duration = Duration::from_secs(24 * 60 * 60);

/// A deployment queued for longer than this becomes failed (specification, sections 3.1, 8).
pub const QUEUED_DEPLOYMENT_EXPIRY: Duration = Duration::from_secs(5 * 60);

/// Any other command that its device does not acknowledge for this long expires.
pub const COMMAND_EXPIRY: Duration = Duration::from_secs(24 * 60 * 60);

/// Deployment progress is reported in steps of this many percent (specification, section 8).
pub const PROGRESS_STEP_PERCENT: u8 = 5;

/// Read timeout of a report handler (specification, section 8).
pub const HANDLER_TIMEOUT: Duration = Duration::from_secs(10);

/// Connect timeout of a report handler (specification, section 8).
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Waits between the attempts of one send (specification, section 8).
pub const RETRY_DELAYS: [Duration; 2] = [Duration::from_millis(500), Duration::from_millis(1500)];

/// The longest wait that the client accepts in a server's `Retry-After`.
pub const RETRY_AFTER_CAP: Duration = Duration::from_secs(60);

/// An engine that is not healthy after this long has failed to start (specification, section 8).
pub const ENGINE_HEALTH_TIMEOUT: Duration = Duration::from_secs(120);

/// The interval of the health checks of a serving engine (decision 0036).
pub const ENGINE_LOOK_INTERVAL: Duration = Duration::from_secs(10);

/// Health checks in a row that an idle engine may miss before it is killed and restarted.
pub const ENGINE_SILENT_LOOKS: u32 = 6;

/// Health checks in a row that a busy engine may miss before it is killed and restarted.
pub const ENGINE_WORKING_LOOKS: u32 = 90;

/// An update is rolled back if the new version ends with a failure within this time (specification, sections 3.4, 8).
pub const ROLLBACK_WINDOW: Duration = Duration::from_secs(120);

/// How long the backend holds a poll for commands open, in whole seconds.
pub const POLL_WAIT: Duration = Duration::from_secs(50);

/// A device on HTTP is offline when it has not polled for this long.
pub const OFFLINE_AFTER: Duration = Duration::from_secs(75);

/// The wait for a receipt before the second delivery of a command. Doubles with each delivery up to the cap.
pub const REDELIVERY_DELAY: Duration = Duration::from_secs(15);

/// The longest wait before a command is delivered again.
pub const REDELIVERY_DELAY_CAP: Duration = Duration::from_secs(5 * 60);

/// The most commands that may wait for one device. Further commands are refused.
pub const QUEUE_LIMIT: usize = 50;

/// The most models, and the most commands, that a hello lists. A backend refuses a longer one: it locks each listed model.
pub const HELLO_LIMIT: usize = 512;

/// Additional places in the queue for commands of the control lane, so that commands in a full queue can be cancelled.
pub const CONTROL_RESERVE: usize = 10;

/// The number of command results that a device keeps to answer repeated deliveries.
pub const RESULTS_KEPT: usize = 4096;

/// How long a command with a download may run on the device.
pub const DEPLOY_EXECUTION_DEADLINE: Duration = Duration::from_secs(6 * 60 * 60);

/// How long any other command may run on the device, including the start of the engine.
pub const EXECUTION_DEADLINE: Duration = Duration::from_secs(180);

/// The largest request body that the serving proxy reads, in bytes.
pub const PROXY_BODY_LIMIT: usize = 32 * 1024 * 1024;

/// The most inferences whose usage waits on a device to be reported. The usage of further inferences is dropped, and
/// only the number of them is reported.
pub const USAGE_QUEUE: usize = 16 * 1024;

/// The largest JSON body that the backend reads, in bytes.
pub const JSON_BODY_LIMIT: usize = 1024 * 1024;

/// How long a client may take to send the JSON body of a request to the backend.
pub const JSON_BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a client may take to send the head of a request to the backend, and how long a persistent connection may
/// stay idle.
pub const REQUEST_HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a client keeps an idle connection to the backend (decision 0023): less than
/// [`REQUEST_HEAD_TIMEOUT`], so that no request is sent while the backend closes the connection.
pub const CONNECTION_IDLE: Duration = Duration::from_secs(20);

/// The largest model file that can be uploaded, in bytes.
pub const MODEL_SIZE_LIMIT: u64 = 1 << 40;

/// An incomplete model whose upload makes no progress for this long is removed.
pub const INCOMPLETE_MODEL_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a browser may cache the answer to a preflight request, and therefore the longest time until a repair takes
/// effect in a browser.
pub const PREFLIGHT_MAX_AGE: Duration = Duration::from_secs(600);

/// The port of the local API (specification, section 4.2).
pub const LOCAL_API_PORT: u16 = 20505;

/// The default limit of devices per account.
pub const DEVICE_LIMIT: u32 = 100;

/// The most devices of one operation.
pub const OPERATION_DEVICES: u32 = 20_000;

/// The most operations of one account that still send commands to devices. An operation that only waits for results does
/// not count: offline devices may keep it waiting for a day.
pub const OPERATIONS_SENDING: u32 = 10;

/// The number of operations kept for one account. Beyond that, the oldest finished ones are deleted, and no operation
/// begins if none has finished.
pub const OPERATIONS_KEPT: u32 = 100;

/// How long an operation waits for the result of a device that has acknowledged its command.
pub const OPERATION_PATIENCE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// How long an operation that deploys and serves waits until a deployed model serves.
pub const OPERATION_SERVING_PATIENCE: Duration = Duration::from_secs(10 * 60);

/// How long an access token is valid.
pub const ACCESS_TOKEN_LIFETIME: Duration = Duration::from_secs(15 * 60);

/// How long a refresh token is valid.
pub const REFRESH_TOKEN_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How long a browser may be idle until its session ends.
pub const SESSION_IDLE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// How long a session of a browser lasts at most.
pub const SESSION_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How long a session of a browser keeps the secret of its cookie before the secret is replaced.
pub const SESSION_ROTATION: Duration = Duration::from_secs(60 * 60);

/// Browsers in which a person may be logged in at a time. A further login ends the session that was unused for longest.
pub const SESSIONS: u32 = 50;

/// Programs, such as `link`, in which a person may be logged in at a time. A further login ends the one that was unused
/// for longest.
pub const PROGRAM_SESSIONS: u32 = 200;

/// How long an invitation is valid by default.
pub const INVITATION_LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The longest validity of an invitation.
pub const INVITATION_LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How long a personal access token is valid by default.
pub const PERSONAL_TOKEN_LIFETIME: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// The longest validity of a personal access token.
pub const PERSONAL_TOKEN_LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// The most personal access tokens of a member in an account.
pub const PERSONAL_TOKENS: u32 = 50;

/// The largest error of a device's clock when the device proves that it has its old key pair.
pub const PROOF_WINDOW: Duration = Duration::from_secs(10 * 60);

/// How long changes of one thing are collected into one event.
pub const EVENT_WINDOW: Duration = Duration::from_millis(250);

/// The interval of the heartbeats of an event stream.
pub const EVENT_HEARTBEAT: Duration = Duration::from_secs(15);

/// The shortest interval between two events about the summary of an account.
pub const SUMMARY_INTERVAL: Duration = Duration::from_secs(1);

/// The most concurrent event streams of one person.
pub const EVENT_STREAMS: usize = 10;

/// The most concurrent event streams of one account.
pub const EVENT_STREAMS_OF_ACCOUNT: usize = 500;

/// The most concurrent event streams of one backend.
pub const EVENT_STREAMS_OF_BACKEND: usize = 2_000;

/// The default number of items on one page of a list.
pub const PAGE_SIZE: u32 = 50;

/// The most items on one page of a list.
pub const PAGE_SIZE_LIMIT: u32 = 200;

/// The longest text for people in a report of a device, in characters. The rest is cut off.
pub const REPORT_TEXT_LENGTH: usize = 2_000;

/// The longest identifier or digest in a report of a device, in characters. The rest is cut off.
pub const REPORT_WORD_LENGTH: usize = 100;

/// The longest version, in characters.
pub const VERSION_LENGTH: usize = 100;

/// The longest reason of a failed update, in characters. The rest is cut off.
pub const UPDATE_REASON_LENGTH: usize = 500;

/// The most GPUs that a device reports.
pub const GPUS_REPORTED: usize = 16;

/// The most engines that a device reports.
pub const ENGINES_REPORTED: usize = 64;

/// The most builds of engines in a sample of a device's load.
pub const BUILDS_REPORTED: usize = 16;

/// The longest reason for choosing a build in such a sample, in characters.
pub const ENGINE_REASON_LENGTH: usize = 500;

/// The longest name of a reported GPU, in characters. The rest is cut off.
pub const GPU_NAME_LENGTH: usize = 100;

/// The largest engine in bytes, both packed and unpacked. The largest builds for graphics cards have two gigabytes.
pub const ENGINE_SIZE: u64 = 16 * 1024 * 1024 * 1024;

/// The most builds in an index of engines.
pub const ENGINE_INDEX_BUILDS: usize = 1000;

/// The longest name in an index of engines, in bytes.
pub const ENGINE_INDEX_WORD: usize = 100;

/// The longest signed document (an index, a catalogue) that is read, in bytes.
pub const SIGNED_DOCUMENT_LIMIT: usize = 4 * 1024 * 1024;

/// The most files of a plugin. A decision.
pub const PLUGIN_FILES: usize = 64;

/// The most bytes of a plugin's files together. A decision.
pub const PLUGIN_SIZE: u64 = 4 * 1024 * 1024;

/// The most bytes of a plugin's archive: of its files, uncompressed, with their headers. A decision.
pub const PLUGIN_ARCHIVE_SIZE: u64 = 5 * 1024 * 1024;

/// How long a manifest is fresh after its release.
pub const RELEASE_LIFETIME: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// How long an expired manifest only causes a warning. After that, nothing is installed from the manifest unless a
/// person insists.
pub const RELEASE_GRACE: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The largest total size of the unpacked files of a release, in bytes. `install.sh` has the same number.
pub const RELEASE_SIZE_LIMIT: u64 = 512 * 1024 * 1024;

/// The most files of a release, including its statements. `install.sh` has the same number.
pub const RELEASE_FILES_LIMIT: usize = 64;

/// The longest signed statement of a release that is read, in bytes.
pub const RELEASE_STATEMENT_LIMIT: u64 = 1024 * 1024;
