//! Access tokens: JWTs that are signed with Ed25519 through ring and valid for 15 minutes.
//!
//! The algorithm is fixed, and the backend's own clock decides about expiry.

use jiff::Timestamp;
use jsonwebtoken::{
    Algorithm, DecodingKey, EncodingKey, Header, Validation,
    crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils},
    errors::{ErrorKind, Result as JwtResult},
};
use link_protocol::{
    backend_api::member::Role,
    id::{AccountId, OperationId, SessionId, TokenId, UserId},
    limits,
    permission::Permission,
    secret::Secret,
};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use serde::{Deserialize, Serialize};
use signature::{Error, Signer, Verifier};

use uuid::Uuid;

use crate::{
    domain::{attempts::Peer, permission, refusal::Refusal, token::Scopes},
    failure::AppError,
};

const ISSUER: &str = "link-backend";

/// The claims of an access token: a login of a user in an account. The store knows whether the login is still valid.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Login {
    pub user: UserId,
    pub account: AccountId,
    /// The family of the login, which all its tokens share.
    pub session: Uuid,
}

/// An authenticated caller: a user, an account, and the user's role in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Identity {
    pub user: UserId,
    pub account: AccountId,
    pub role: Role,
    pub scopes: Scopes,
    pub means: Means,
    pub peer: Peer,
}

/// How the caller authenticated.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Means {
    /// The access token of a login.
    Login(Uuid),
    /// The cookie of a session.
    Cookie(Uuid),
    /// A personal access token.
    Token(TokenId),
    /// A login that had started this operation. It may have ended since.
    Operation(OperationId),
}

impl Identity {
    /// Returns the session of the request; `None` for a personal access token and for an operation.
    #[must_use]
    pub fn session(&self) -> Option<SessionId> {
        match self.means {
            Means::Login(session) | Means::Cookie(session) => Some(SessionId::from_uuid(session)),
            Means::Token(_) | Means::Operation(_) => None,
        }
    }

    /// Checks that the caller has `permission`.
    ///
    /// # Errors
    /// [`Refusal::Forbidden`], [`Refusal::ScopeMissing`].
    pub fn check(&self, permission: Permission) -> Result<(), Refusal> {
        if !self.scopes.contain(permission) {
            return Err(Refusal::ScopeMissing(permission));
        }
        if permission::allows(self.role, permission) {
            return Ok(());
        }
        let role = self.role.as_str();
        Err(Refusal::Forbidden(format!("this needs `{permission}`, which the role {role} lacks")))
    }
}

/// Issues and verifies access tokens.
pub struct AccessTokens {
    header: Header,
    encoding: EncodingKey,
    decoding: DecodingKey,
    validation: Validation,
}

#[derive(Deserialize, Serialize)]
struct Claims {
    iss: String,
    sub: UserId,
    account: AccountId,
    sid: Uuid,
    iat: i64,
    exp: i64,
}

impl AccessTokens {
    /// Derives the key pair from `seed`.
    #[must_use]
    pub fn new(seed: &[u8; 32]) -> Self {
        // A second backend in this process finds the provider installed already.
        PROVIDER.install_default().unwrap_or(());
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).expect("a seed has 32 bytes");
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.validate_exp = false;
        validation.set_issuer(&[ISSUER]);
        Self {
            header: Header::new(Algorithm::EdDSA),
            encoding: EncodingKey::from_ed_der(seed),
            decoding: DecodingKey::from_ed_der(pair.public_key().as_ref()),
            validation,
        }
    }

    /// Issues a token for `login` that is valid from `now` on.
    ///
    /// # Errors
    /// [`AppError::Broken`] if the token cannot be signed.
    pub fn issue(&self, login: Login, now: Timestamp) -> Result<Secret, AppError> {
        let lifetime = i64::try_from(limits::ACCESS_TOKEN_LIFETIME.as_secs()).unwrap_or(0);
        let claims = Claims {
            iss: ISSUER.to_owned(),
            sub: login.user,
            account: login.account,
            sid: login.session,
            iat: now.as_second(),
            exp: now.as_second() + lifetime,
        };
        jsonwebtoken::encode(&self.header, &claims, &self.encoding)
            .map(Secret::new)
            .map_err(AppError::broken("sign an access token"))
    }

    /// Verifies a token and returns its login.
    ///
    /// # Errors
    /// [`Refusal::Unauthorized`] if this backend did not issue the token, [`Refusal::TokenExpired`].
    pub fn verify(&self, token: &str, now: Timestamp) -> Result<Login, Refusal> {
        let claims = jsonwebtoken::decode::<Claims>(token, &self.decoding, &self.validation)
            .map_err(|_untrusted| Refusal::Unauthorized)?
            .claims;
        if now.as_second() >= claims.exp {
            return Err(Refusal::TokenExpired);
        }
        Ok(Login { user: claims.sub, account: claims.account, session: claims.sid })
    }
}

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: signer,
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

struct EdSigner(Ed25519KeyPair);

struct EdVerifier(Vec<u8>);

impl Signer<Vec<u8>> for EdSigner {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        Ok(self.0.sign(message).as_ref().to_vec())
    }
}

impl JwtSigner for EdSigner {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

impl Verifier<Vec<u8>> for EdVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), Error> {
        let key = UnparsedPublicKey::new(&ED25519, &self.0);
        key.verify(message, signature).map_err(|_| Error::new())
    }
}

impl JwtVerifier for EdVerifier {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

fn signer(algorithm: &Algorithm, key: &EncodingKey) -> JwtResult<Box<dyn JwtSigner>> {
    pinned(*algorithm)?;
    let pair = Ed25519KeyPair::from_seed_unchecked(key.as_bytes())
        .map_err(|_rejected| ErrorKind::InvalidEddsaKey)?;
    Ok(Box::new(EdSigner(pair)))
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> JwtResult<Box<dyn JwtVerifier>> {
    pinned(*algorithm)?;
    Ok(Box::new(EdVerifier(key.try_get_as_bytes()?.to_vec())))
}

fn pinned(algorithm: Algorithm) -> JwtResult<()> {
    if algorithm == Algorithm::EdDSA { Ok(()) } else { Err(ErrorKind::InvalidAlgorithm.into()) }
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;

    use super::*;

    #[test]
    fn a_token_reads_back_until_it_expires() {
        let tokens = AccessTokens::new(&[1; 32]);
        let token = tokens.issue(login(), now()).unwrap();
        assert_eq!(tokens.verify(token.expose(), now() + 899.seconds()), Ok(login()));
        assert_eq!(
            tokens.verify(token.expose(), now() + 900.seconds()),
            Err(Refusal::TokenExpired)
        );
    }

    #[test]
    fn a_token_of_another_key_or_algorithm_is_refused() {
        let tokens = AccessTokens::new(&[1; 32]);
        let foreign = AccessTokens::new(&[2; 32]).issue(login(), now()).unwrap();
        assert_eq!(tokens.verify(foreign.expose(), now()), Err(Refusal::Unauthorized));
        let good = tokens.issue(login(), now()).unwrap();
        let [_, claims, _] = good.expose().split('.').collect::<Vec<_>>()[..] else {
            panic!("a token has three parts");
        };
        // {"typ":"JWT","alg":"none"} and {"typ":"JWT","alg":"HS256"}
        for header in
            ["eyJ0eXAiOiJKV1QiLCJhbGciOiJub25lIn0", "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9"]
        {
            let forged = format!("{header}.{claims}.AAAA");
            assert_eq!(tokens.verify(&forged, now()), Err(Refusal::Unauthorized));
        }
        assert_eq!(tokens.verify("", now()), Err(Refusal::Unauthorized));
    }

    fn login() -> Login {
        Login {
            user: UserId::from_uuid(Uuid::from_u128(1)),
            account: AccountId::from_uuid(Uuid::from_u128(2)),
            session: Uuid::from_u128(3),
        }
    }

    fn now() -> Timestamp {
        Timestamp::from_second(1_790_000_000).unwrap()
    }
}
