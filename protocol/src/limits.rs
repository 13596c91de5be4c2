//! Every limit both ends must agree on, written once, with its unit in the type.
//!
//! Numbers of the specification's section 8 name it; the others are this project's decisions.

use std::time::Duration;

/// A repair that no device has acknowledged for this long expires (specification, sections 3.3, 8).
pub const REPAIR_EXPIRY: Duration = Duration::from_secs(24 * 60 * 60);

/// A deployment queued for longer than this becomes failed (specification, sections 3.1, 8).
pub const QUEUED_DEPLOYMENT_EXPIRY: Duration = Duration::from_secs(5 * 60);

/// Every other command expires after this when it is not acknowledged.
pub const COMMAND_EXPIRY: Duration = Duration::from_secs(24 * 60 * 60);

/// Deployment progress is reported in steps of this many percent (specification, section 8).
pub const PROGRESS_STEP_PERCENT: u8 = 5;

/// Read timeout of a report handler (specification, section 8).
pub const HANDLER_TIMEOUT: Duration = Duration::from_secs(10);

/// Connect timeout of a report handler (specification, section 8).
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Waits between the attempts of one send (specification, section 8).
pub const RETRY_DELAYS: [Duration; 2] = [Duration::from_millis(500), Duration::from_millis(1500)];

/// The longest wait that a server's `Retry-After` can cause.
pub const RETRY_AFTER_CAP: Duration = Duration::from_secs(60);

/// An engine that is not healthy after this long has failed to start (specification, section 8).
pub const ENGINE_HEALTH_TIMEOUT: Duration = Duration::from_secs(120);

/// The interval of the health checks of a serving engine (decision 0036).
pub const ENGINE_LOOK_INTERVAL: Duration = Duration::from_secs(10);

/// Health checks in a row that an idle engine may miss before it is killed and restarted.
pub const ENGINE_SILENT_LOOKS: u32 = 6;

/// Health checks in a row that a busy engine may miss before it is killed and restarted.
pub const ENGINE_WORKING_LOOKS: u32 = 90;

/// A version that ends with a failure this long after an update is rolled back (specification,
/// sections 3.4, 8).
pub const ROLLBACK_WINDOW: Duration = Duration::from_secs(120);

/// How long one poll for commands is held open by the backend, in whole seconds.
pub const POLL_WAIT: Duration = Duration::from_secs(50);

/// A device on HTTP is offline when it has not polled for this long.
pub const OFFLINE_AFTER: Duration = Duration::from_secs(75);

/// The first wait for a receipt before a command is delivered again; doubles up to the cap.
pub const REDELIVERY_DELAY: Duration = Duration::from_secs(15);

/// The longest wait before a command is delivered again.
pub const REDELIVERY_DELAY_CAP: Duration = Duration::from_secs(5 * 60);

/// Commands that may wait for one device; one more is refused.
pub const QUEUE_LIMIT: usize = 50;

/// Further places for commands of the control lane, so that a full queue can be cancelled.
pub const CONTROL_RESERVE: usize = 10;

/// Results of commands a device remembers, to answer a redelivery.
pub const RESULTS_KEPT: usize = 4096;

/// Time a command that downloads may take on the device.
pub const DEPLOY_EXECUTION_DEADLINE: Duration = Duration::from_secs(6 * 60 * 60);

/// Time any other command may take on the device, engine start included.
pub const EXECUTION_DEADLINE: Duration = Duration::from_secs(180);

/// The largest request body the serving proxy reads, in bytes.
pub const PROXY_BODY_LIMIT: usize = 32 * 1024 * 1024;

/// Inferences whose usage may wait on a device to be reported. Beyond that, usage is lost and counted.
pub const USAGE_QUEUE: usize = 16 * 1024;

/// The largest JSON body the backend reads, in bytes.
pub const JSON_BODY_LIMIT: usize = 1024 * 1024;

/// How long a client may take to send the JSON body of a request to the backend.
pub const JSON_BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a client may take to send the head of a request to the backend, and how long a kept
/// connection may stay idle.
pub const REQUEST_HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a client keeps an idle connection to the backend (decision 0023): less than
/// [`REQUEST_HEAD_TIMEOUT`], so that no request is sent while the backend closes the connection.
pub const CONNECTION_IDLE: Duration = Duration::from_secs(20);

/// The largest model file an upload may have, in bytes.
pub const MODEL_SIZE_LIMIT: u64 = 1 << 40;

/// A model whose file is not whole, and of which nothing came for this long, is removed.
pub const INCOMPLETE_MODEL_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a browser may remember a preflight; a repaired device works within this time.
pub const PREFLIGHT_MAX_AGE: Duration = Duration::from_secs(600);

/// The port of the local API (specification, section 4.2).
pub const LOCAL_API_PORT: u16 = 20505;

/// Devices an account may have unless the backend's setting says otherwise.
pub const DEVICE_LIMIT: u32 = 100;

/// Devices that one operation may have.
pub const OPERATION_DEVICES: u32 = 20_000;

/// Operations of one account that may run at a time.
pub const OPERATIONS_RUNNING: u32 = 10;

/// Operations that are kept for one account; beyond that, the oldest ended ones are forgotten.
pub const OPERATIONS_KEPT: u32 = 100;

/// An operation waits this long for the result of a device that took its command.
pub const OPERATION_PATIENCE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// An operation that deploys and serves waits this long for a deployed model to serve.
pub const OPERATION_SERVING_PATIENCE: Duration = Duration::from_secs(10 * 60);

/// How long an access token lives.
pub const ACCESS_TOKEN_LIFETIME: Duration = Duration::from_secs(15 * 60);

/// How long a refresh token lives.
pub const REFRESH_TOKEN_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How long an invitation is valid by default.
pub const INVITATION_LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// How long an invitation can be valid.
pub const INVITATION_LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How long a personal access token is valid by default.
pub const PERSONAL_TOKEN_LIFETIME: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// How long a personal access token can be valid.
pub const PERSONAL_TOKEN_LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// Personal access tokens that a member may have in an account.
pub const PERSONAL_TOKENS: u32 = 50;

/// How far a device's clock may be off when it proves its old key pair.
pub const PROOF_WINDOW: Duration = Duration::from_secs(10 * 60);

/// Items on one page of a list by default.
pub const PAGE_SIZE: u32 = 50;

/// The most items on one page of a list.
pub const PAGE_SIZE_LIMIT: u32 = 200;

/// Characters that are kept of the reason that a device gives for an update's end.
pub const UPDATE_REASON_LENGTH: usize = 500;

/// The most GPUs that a device reports.
pub const GPUS_REPORTED: usize = 16;

/// The most engines that a device reports.
pub const ENGINES_REPORTED: usize = 64;

/// Characters that are kept of the name of a GPU that a device reports.
pub const GPU_NAME_LENGTH: usize = 100;

/// An engine has at most this many bytes, packed and unpacked; the largest builds for graphics cards have two gigabytes.
pub const ENGINE_SIZE: u64 = 16 * 1024 * 1024 * 1024;

/// Builds that an index of engines may list.
pub const ENGINE_INDEX_BUILDS: usize = 1000;

/// The longest word of an index of engines, in bytes.
pub const ENGINE_INDEX_WORD: usize = 100;

/// The longest signed document (an index, a catalogue) that is read, in bytes.
pub const SIGNED_DOCUMENT_LIMIT: usize = 4 * 1024 * 1024;

/// How long a manifest is fresh after its release.
pub const RELEASE_LIFETIME: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// How long an expired manifest only causes a warning. After that, nothing is installed from it unless a
/// person asks for it.
pub const RELEASE_GRACE: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The files of a release, unpacked, have at most this many bytes together; `install.sh` has the same number.
pub const RELEASE_SIZE_LIMIT: u64 = 512 * 1024 * 1024;

/// Files that a release may have, its statements among them; `install.sh` has the same number.
pub const RELEASE_FILES_LIMIT: usize = 64;

/// The longest signed statement of a release that is read, in bytes.
pub const RELEASE_STATEMENT_LIMIT: u64 = 1024 * 1024;
