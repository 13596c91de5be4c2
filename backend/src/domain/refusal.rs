//! Why a request is refused, in the words of the domain. The API turns each refusal into one problem document.

use link_protocol::{
    command::Alias,
    deployment::DeploymentState,
    gguf::NotAModel,
    id::{DeviceId, ModelId},
    key::InvalidKey,
    limits,
    permission::Permission,
    problem::Code,
    retire::InvalidRetireCode,
};

/// Why a request is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Refusal {
    #[error("the request carries no valid token")]
    Unauthorized,
    #[error("the access token has expired")]
    TokenExpired,
    #[error("the e-mail or the password is wrong")]
    InvalidCredentials,
    #[error("the setup token is not the one that the first start made")]
    SetupTokenInvalid,
    #[error("this backend has its first account")]
    AlreadySetUp,
    #[error("this backend has no owner's file: `owner_proof` of its configuration is another")]
    NoOwnerFile,
    #[error("the proof is not the one that the running backend wrote for its owner")]
    OwnerProofInvalid,
    #[error("the one-time code was used, has expired, or is none")]
    OneTimeCodeInvalid,
    #[error("no account has this key")]
    KeyUnknown,
    #[error("the key has expired")]
    KeyExpired,
    #[error("the key was revoked")]
    KeyRevoked,
    #[error("the key has enrolled as many devices as it may")]
    KeyUsedUp,
    #[error("{0}")]
    KeyMistyped(InvalidKey),
    #[error("the key did not register this device, and the device's old key pair does not agree")]
    ProofRequired,
    #[error("this device belongs to another account than the key")]
    OtherAccount,
    #[error("{0}")]
    RetireCodeMistyped(InvalidRetireCode),
    #[error("no device of this backend made this code, or it is gone")]
    RetireCodeUnknown,
    #[error("the device has registered again since this code was made")]
    RetireCodeStale,
    #[error(
        "you own the device, but the model is neither yours nor shared, and not deployed there"
    )]
    NotOwner,
    #[error("this account may not share models with the others of this backend")]
    SharingNotAllowed,
    #[error("{0}")]
    Forbidden(String),
    #[error("this needs `{0}`, which the token was not made for")]
    ScopeMissing(Permission),
    #[error("the person has not decided yet")]
    AuthorizationPending,
    #[error("asked again before the interval was over; it has grown")]
    SlowDown,
    #[error("the person refused, or does not belong to the account any more")]
    AccessDenied,
    #[error("the device code has expired or was used")]
    DeviceCodeExpired,
    #[error("no login waits for this code")]
    UserCodeUnknown,
    #[error("the account has no other owner")]
    LastOwner,
    #[error("the user belongs to the account already")]
    AlreadyMember,
    #[error("no invitation for this user has this token, or it was used or has expired")]
    InvitationInvalid,
    #[error("{0}")]
    NothingSelected(String),
    #[error("the operation {0}")]
    OperationFinal(&'static str),
    /// Another worker has told the device meanwhile, or the operation was cancelled.
    #[error("the device is not to be told any more")]
    ItemTaken,
    #[error("there is no such {0}")]
    NotFound(&'static str),
    #[error("device {0} is offline")]
    DeviceOffline(DeviceId),
    #[error("model {model} is not deployed on device {device}")]
    NotDeployed { model: ModelId, device: DeviceId },
    #[error("the account has {0} devices, which is its limit")]
    DeviceLimitReached(u32),
    #[error("{0}")]
    QuotaReached(String),
    #[error("the disk of the backend has no room for this file; nothing of it was kept")]
    NoRoom,
    #[error("another model on this device is called `{0}`")]
    AliasTaken(Alias),
    #[error("the model's file has not been uploaded")]
    ModelNotReady,
    #[error("the model is deployed on a device")]
    ModelInUse,
    #[error("the deployment is {}", state_name(*.0))]
    AlreadyFinal(DeploymentState),
    #[error("the idempotency key stands for another request")]
    IdempotencyConflict,
    #[error("this backend was started without a zenoh router")]
    ZenohNotOffered,
    #[error("no slot of the zenoh router is free; more are made soon")]
    NoSlotFree,
    #[error("the device has come to another account and has not begun anew")]
    HandoverPending,
    #[error("a newer poll of this device took over")]
    StalePoll,
    #[error("the command has expired; drop it")]
    CommandExpired,
    #[error("the content is not what was announced: {0}")]
    ChecksumMismatch(String),
    #[error("{0}")]
    NotAModel(NotAModel),
    #[error("the upload goes on behind {0} bytes, and not where this begins")]
    UploadOffset(u64),
    #[error("{0}")]
    Invalid(String),
    #[error("the file is larger than {limit} bytes", limit = limits::MODEL_SIZE_LIMIT)]
    TooLarge,
    #[error("the file came too slowly; nothing was kept")]
    TooSlow,
    #[error("as many files are being received as there may be")]
    TooManyUploads,
    #[error("too many logins are being checked at the moment")]
    TooManyLogins,
    #[error("{limit} commands wait for device {0}", limit = limits::QUEUE_LIMIT)]
    QueueFull(DeviceId),
    #[error("too many attempts; wait {retry_after_s} seconds")]
    TooManyAttempts { retry_after_s: u64 },
}

impl Refusal {
    /// Returns the stable code of the problem that the refusal is told as.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Unauthorized => Code::Unauthorized,
            Self::TokenExpired => Code::TokenExpired,
            Self::InvalidCredentials => Code::InvalidCredentials,
            Self::SetupTokenInvalid => Code::SetupTokenInvalid,
            Self::AlreadySetUp => Code::AlreadySetUp,
            Self::NoOwnerFile | Self::NotFound(_) => Code::NotFound,
            Self::OwnerProofInvalid => Code::OwnerProofInvalid,
            Self::OneTimeCodeInvalid => Code::OneTimeCodeInvalid,
            Self::KeyUnknown => Code::KeyUnknown,
            Self::KeyExpired => Code::KeyExpired,
            Self::KeyRevoked => Code::KeyRevoked,
            Self::KeyUsedUp => Code::KeyUsedUp,
            Self::KeyMistyped(_) => Code::KeyMistyped,
            Self::ProofRequired => Code::ProofRequired,
            Self::OtherAccount => Code::OtherAccount,
            Self::RetireCodeMistyped(_) => Code::RetireCodeMistyped,
            Self::RetireCodeUnknown => Code::RetireCodeUnknown,
            Self::RetireCodeStale => Code::RetireCodeStale,
            Self::NotOwner => Code::NotOwner,
            Self::SharingNotAllowed => Code::SharingNotAllowed,
            Self::Forbidden(_) => Code::Forbidden,
            Self::ScopeMissing(_) => Code::ScopeMissing,
            Self::AuthorizationPending => Code::AuthorizationPending,
            Self::SlowDown => Code::SlowDown,
            Self::AccessDenied => Code::AccessDenied,
            Self::DeviceCodeExpired => Code::ExpiredToken,
            Self::UserCodeUnknown => Code::UserCodeUnknown,
            Self::LastOwner => Code::LastOwner,
            Self::AlreadyMember => Code::AlreadyMember,
            Self::InvitationInvalid => Code::InvitationInvalid,
            Self::DeviceOffline(_) => Code::DeviceOffline,
            Self::NotDeployed { .. } => Code::NotDeployed,
            Self::DeviceLimitReached(_) => Code::DeviceLimitReached,
            Self::QuotaReached(_) => Code::QuotaReached,
            Self::NoRoom => Code::InsufficientStorage,
            Self::AliasTaken(_) => Code::AliasTaken,
            Self::ModelNotReady => Code::ModelNotReady,
            Self::ModelInUse => Code::ModelInUse,
            Self::AlreadyFinal(_) | Self::OperationFinal(_) | Self::ItemTaken => Code::AlreadyFinal,
            Self::NothingSelected(_) => Code::NothingSelected,
            Self::IdempotencyConflict => Code::IdempotencyConflict,
            Self::ZenohNotOffered => Code::ZenohNotOffered,
            Self::NoSlotFree | Self::TooManyUploads | Self::TooManyLogins => Code::Overloaded,
            Self::HandoverPending => Code::HandoverPending,
            Self::StalePoll => Code::StalePoll,
            Self::CommandExpired => Code::CommandExpired,
            Self::ChecksumMismatch(_) => Code::ChecksumMismatch,
            Self::NotAModel(_) => Code::NotAModel,
            Self::UploadOffset(_) => Code::UploadOffset,
            Self::Invalid(_) => Code::InvalidRequest,
            Self::TooLarge => Code::PayloadTooLarge,
            Self::TooSlow => Code::RequestTimeout,
            Self::QueueFull(_) => Code::QueueFull,
            Self::TooManyAttempts { .. } => Code::TooManyAttempts,
        }
    }

    /// Refuses a value of the request with the rule that it breaks.
    pub fn invalid(rule: impl Into<String>) -> Self {
        Self::Invalid(rule.into())
    }
}

const fn state_name(state: DeploymentState) -> &'static str {
    match state {
        DeploymentState::Queued => "queued",
        DeploymentState::Downloading => "downloading",
        DeploymentState::Configuring => "configuring",
        DeploymentState::Completed => "completed",
        DeploymentState::Failed => "failed",
        DeploymentState::Cancelled => "cancelled",
    }
}
