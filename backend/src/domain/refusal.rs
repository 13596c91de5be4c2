//! Refusals: why the domain refuses a request. The API turns each refusal into one problem document.

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

/// The reason why a request is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Refusal {
    #[error("the request carries no valid token")]
    Unauthorized,
    #[error("the access token has expired")]
    TokenExpired,
    #[error("the e-mail or the password is wrong")]
    InvalidCredentials,
    #[error("the current password is wrong")]
    WrongPassword,
    #[error("another page of this host has set a cookie with the name of the session")]
    AmbiguousSession,
    #[error("a page of another origin has sent the request, or the request lacks `X-Link-Csrf`")]
    CrossSite,
    #[error(
        "at this address everybody between the browser and the backend could read and take over a login"
    )]
    PlainHttp,
    #[error(
        "the `Host` of the request is neither that of the backend's `public_url` nor a loopback name"
    )]
    UnknownHost,
    #[error("the setup token is wrong")]
    SetupTokenInvalid,
    #[error("this backend has its first account")]
    AlreadySetUp,
    #[error("this backend has no owner's file, because its `owner_proof` is not `file`")]
    NoOwnerFile,
    #[error("the proof is not the one that the running backend wrote for its owner")]
    OwnerProofInvalid,
    #[error("the one-time code is unknown, was used, or has expired")]
    OneTimeCodeInvalid,
    #[error("no account has this key")]
    KeyUnknown,
    #[error("the key has expired")]
    KeyExpired,
    #[error("the key was revoked")]
    KeyRevoked,
    #[error("the key has registered its maximum number of devices")]
    KeyUsedUp,
    #[error("{0}")]
    KeyMistyped(InvalidKey),
    #[error("another key registered this device, and the device did not prove its old key pair")]
    ProofRequired,
    #[error("this device belongs to another account than the key")]
    OtherAccount,
    #[error("{0}")]
    RetireCodeMistyped(InvalidRetireCode),
    #[error("no device of this backend created this code, or the device was removed")]
    RetireCodeUnknown,
    #[error("the device has registered again since it created this code")]
    RetireCodeStale,
    #[error("the model belongs to another account, and only that account may change or remove it")]
    NotOwner,
    #[error("the model belongs to another account, which does not share it with you any more")]
    NoLongerShared,
    #[error("this account is not allowed to share models with the other accounts of this backend")]
    SharingNotAllowed,
    #[error("{0}")]
    Forbidden(String),
    #[error("this needs the scope `{0}`, which the token does not have")]
    ScopeMissing(Permission),
    #[error("the person has not decided yet")]
    AuthorizationPending,
    #[error("the request came before the interval was over; the interval is now longer")]
    SlowDown,
    #[error("the person refused, or is no longer a member of the account")]
    AccessDenied,
    #[error("the device code has expired or was used")]
    DeviceCodeExpired,
    #[error("no login waits for this code")]
    UserCodeUnknown,
    #[error("the account has no other owner")]
    LastOwner,
    #[error("the user is already a member of the account")]
    AlreadyMember,
    #[error("the invitation is unknown, was used, has expired, or is for another e-mail")]
    InvitationInvalid,
    #[error("{0}")]
    NothingSelected(String),
    #[error("the operation {0}")]
    OperationFinal(&'static str),
    /// Another worker has sent the item's request meanwhile, or the operation was cancelled.
    #[error("the device is no longer part of the operation")]
    ItemTaken,
    #[error("{0} was changed since the tag in `If-Match` was read")]
    Changed(&'static str),
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
    #[error("the backend's disk has no room for this file, and nothing was stored")]
    NoRoom,
    #[error("another model on this device has the alias `{0}`")]
    AliasTaken(Alias),
    #[error("the model's file has not been uploaded")]
    ModelNotReady,
    #[error("the model is deployed on {}", places(*own, *others))]
    ModelInUse { own: u32, others: u32 },
    #[error("the deployment is {}", .0.as_str())]
    AlreadyFinal(DeploymentState),
    #[error("the idempotency key was used for another request")]
    IdempotencyConflict,
    #[error("this backend was started without a zenoh router")]
    ZenohNotOffered,
    #[error(
        "no slot of the zenoh router is free; retry in a minute, when the backend has opened more"
    )]
    NoSlotFree,
    #[error("the device was transferred to another account and has not restarted with it yet")]
    HandoverPending,
    #[error("a newer poll of this device took over")]
    StalePoll,
    #[error("the command has expired; drop it")]
    CommandExpired,
    #[error("the content differs from its announcement: {0}")]
    ChecksumMismatch(String),
    #[error("{0}")]
    NotAModel(NotAModel),
    #[error("the upload resumes at byte {0}, and this request starts elsewhere")]
    UploadOffset(u64),
    #[error("{0}")]
    Invalid(String),
    #[error("the file is larger than {limit} bytes", limit = limits::MODEL_SIZE_LIMIT)]
    TooLarge,
    #[error("the upload was too slow and was discarded; retry on a faster connection")]
    TooSlow,
    #[error("the limit of concurrent uploads is reached; retry in a minute")]
    TooManyUploads,
    #[error("too many concurrent logins; retry in a few seconds")]
    TooManyLogins,
    #[error(
        "you have {limit} event streams, or the backend has too many",
        limit = limits::EVENT_STREAMS
    )]
    TooManyStreams,
    #[error("{limit} commands wait for device {0}", limit = limits::QUEUE_LIMIT)]
    QueueFull(DeviceId),
    #[error("too many attempts; wait {retry_after_s} seconds")]
    TooManyAttempts { retry_after_s: u64 },
}

impl Refusal {
    /// Returns the stable error code of the problem document for the refusal.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Unauthorized => Code::Unauthorized,
            Self::TokenExpired => Code::TokenExpired,
            Self::InvalidCredentials => Code::InvalidCredentials,
            Self::WrongPassword => Code::WrongPassword,
            Self::AmbiguousSession => Code::AmbiguousSession,
            Self::CrossSite => Code::CrossSite,
            Self::PlainHttp => Code::PlainHttp,
            Self::UnknownHost => Code::UnknownHost,
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
            Self::NotOwner | Self::NoLongerShared => Code::NotOwner,
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
            Self::ModelInUse { .. } => Code::ModelInUse,
            Self::AlreadyFinal(_) | Self::OperationFinal(_) | Self::ItemTaken => Code::AlreadyFinal,
            Self::NothingSelected(_) => Code::NothingSelected,
            Self::Changed(_) => Code::PreconditionFailed,
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
            Self::TooManyStreams => Code::TooManyStreams,
            Self::TooManyAttempts { .. } => Code::TooManyAttempts,
        }
    }

    /// Refuses a value of the request with the rule that it breaks.
    pub fn invalid(rule: impl Into<String>) -> Self {
        Self::Invalid(rule.into())
    }
}

/// Returns where a model is deployed. How many devices others have is not told.
fn places(own: u32, others: u32) -> String {
    let own = match own {
        0 => return "devices of other accounts".to_owned(),
        1 => "1 device".to_owned(),
        own => format!("{own} devices"),
    };
    if others == 0 {
        own
    } else {
        format!("{own} of this account, and on devices of other accounts")
    }
}
