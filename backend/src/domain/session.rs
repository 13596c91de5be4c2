//! Sessions of people: when a session has ended, when the secret of its cookie is replaced, and what a replaced secret
//! means.
//!
//! The answer with a new secret can be lost, and other requests of the browser are under way with the old one. So the
//! old secret counts until the new one was used, and for a minute more. After that it was copied, and the session ends.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use link_protocol::{
    backend_api::session::{SessionInfo, SessionKind},
    id::{AccountId, SessionId, UserId},
    limits,
};

use crate::domain::refusal::Refusal;

/// The time after a replacement during which requests with the old secret may still arrive.
const GRACE: SignedDuration = SignedDuration::from_mins(1);
/// The resolution of the stored time of the last use.
const USE_STEP: SignedDuration = SignedDuration::from_mins(1);
/// The longest stored name of a browser, in characters.
const LONGEST_AGENT: usize = 60;

/// The digests of the secrets of a browser.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CookieRecord {
    pub digest: [u8; 32],
    pub previous: Option<[u8; 32]>,
    /// The secret of the pages, sent in a header.
    pub csrf: [u8; 32],
    pub rotated_at: Timestamp,
    /// Whether the newest secret was used.
    pub is_confirmed: bool,
}

/// A stored session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SessionRecord {
    pub id: SessionId,
    pub user: UserId,
    pub account: AccountId,
    /// How the session began, in the words of the audit log.
    pub login: String,
    pub agent: String,
    pub address: Option<String>,
    pub created_at: Timestamp,
    pub used_at: Timestamp,
    /// The end at the latest.
    pub ends_at: Timestamp,
    /// Of a browser.
    pub cookie: Option<CookieRecord>,
}

/// What entitles a person to a new session. It has to hold still when the session begins.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Warrant {
    /// A setup token, a one-time code or an invitation, which was consumed.
    Consumed,
    /// A password, by its stored hash.
    Password(String),
    /// Another session of the person, whose end bounds the new session of a browser.
    Session(SessionId),
}

/// The consequence of a request with the secret of a cookie.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Judgement {
    /// The request is the person's.
    Good,
    /// The request is the person's, and its use is recorded.
    Note,
    /// The secret is replaced.
    Rotate,
    /// The secret was replaced, and the answer gives the new secret once more.
    Repeat,
    /// The secret was replaced long ago: the session ends.
    Reused,
    /// The session has ended.
    Over,
}

impl SessionRecord {
    /// Judges a request with the secret of `digest` at `now`.
    #[must_use]
    pub fn judge(&self, digest: &[u8; 32], now: Timestamp) -> Judgement {
        let Some(cookie) = &self.cookie else { return Judgement::Over };
        if now >= self.expires_at() {
            return Judgement::Over;
        }
        let since_rotation = now.duration_since(cookie.rotated_at);
        if cookie.digest == *digest {
            let is_old = since_rotation >= signed(limits::SESSION_ROTATION);
            let is_noted = now.duration_since(self.used_at) < USE_STEP && cookie.is_confirmed;
            return match (is_old, is_noted) {
                (true, _) => Judgement::Rotate,
                (false, false) => Judgement::Note,
                (false, true) => Judgement::Good,
            };
        }
        if cookie.previous != Some(*digest) {
            Judgement::Over
        } else if !cookie.is_confirmed {
            Judgement::Repeat
        } else if since_rotation < GRACE {
            Judgement::Good
        } else {
            Judgement::Reused
        }
    }

    /// Returns the time at which the session ends if it is not used again.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        if self.cookie.is_none() {
            return self.ends_at;
        }
        after(self.used_at, limits::SESSION_IDLE).min(self.ends_at)
    }

    /// Checks the secret of the pages.
    ///
    /// # Errors
    /// [`Refusal::Unauthorized`].
    pub fn check_csrf(&self, digest: &[u8; 32]) -> Result<(), Refusal> {
        let is_own = self.cookie.as_ref().is_some_and(|cookie| cookie.csrf == *digest);
        if is_own { Ok(()) } else { Err(Refusal::Unauthorized) }
    }

    /// Returns the session in the form that its person sees.
    #[must_use]
    pub fn info(self, current: Option<SessionId>) -> SessionInfo {
        SessionInfo {
            session_id: self.id,
            account_id: self.account,
            kind: if self.cookie.is_some() { SessionKind::Browser } else { SessionKind::Program },
            expires_at: self.expires_at(),
            login: self.login,
            agent: self.agent,
            address: self.address,
            created_at: self.created_at,
            last_used_at: self.used_at,
            current: current == Some(self.id),
        }
    }
}

/// Returns the time `time` after `start`.
#[must_use]
pub fn after(start: Timestamp, time: Duration) -> Timestamp {
    start.checked_add(signed(time)).unwrap_or(Timestamp::MAX)
}

/// The program that logs in, as its `User-Agent` says: of a browser the browser, its version and its system, of any other
/// program the first word. Empty if it does not say.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Program(String);

impl Program {
    /// Reads a `User-Agent`.
    #[must_use]
    pub fn of(agent: &str) -> Self {
        Self(shortened(agent))
    }

    /// Returns the text that a session shows.
    #[must_use]
    pub fn into_text(self) -> String {
        self.0
    }
}

fn shortened(agent: &str) -> String {
    let version = |name: &str| {
        let (_, rest) = agent.split_once(name)?;
        let major: String = rest.chars().take_while(char::is_ascii_digit).collect();
        (!major.is_empty()).then_some(major)
    };
    // Browsers name their relatives too, so the order matters.
    let browsers = [
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chromium"),
        ("Version/", "Safari"),
    ];
    let systems = [
        ("Android", "Android"),
        ("iPhone", "iOS"),
        ("iPad", "iOS"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("CrOS", "ChromeOS"),
        ("Linux", "Linux"),
    ];
    let browser =
        browsers.iter().find_map(|(mark, name)| Some(format!("{name} {}", version(mark)?)));
    let system = systems.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name);
    match (browser, system) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser,
        (None, _) => {
            let first = agent.split_whitespace().next().unwrap_or_default();
            first.chars().filter(char::is_ascii_graphic).take(LONGEST_AGENT).collect()
        }
    }
}

fn signed(time: Duration) -> SignedDuration {
    SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX)
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;
    use proptest::{collection::vec, prelude::*};
    use uuid::Uuid;

    use super::*;

    const FIRST: [u8; 32] = [1; 32];
    const SECOND: [u8; 32] = [2; 32];

    #[test]
    fn a_secret_is_replaced_after_an_hour_and_the_old_one_counts_until_the_new_one_is_used() {
        let fresh = session();
        let judge = |session: &SessionRecord, digest: &[u8; 32], seconds: i64| {
            session.judge(digest, start() + seconds.seconds())
        };
        assert_eq!(judge(&fresh, &FIRST, 59), Judgement::Good);
        assert_eq!(judge(&fresh, &FIRST, 60), Judgement::Note);
        assert_eq!(judge(&fresh, &FIRST, 3600), Judgement::Rotate);
        assert_eq!(judge(&fresh, &SECOND, 0), Judgement::Over);
        let rotated = with_cookie(&fresh, |cookie| {
            cookie.digest = SECOND;
            cookie.previous = Some(FIRST);
            cookie.is_confirmed = false;
        });
        assert_eq!(judge(&rotated, &FIRST, 3000), Judgement::Repeat);
        assert_eq!(judge(&rotated, &SECOND, 1), Judgement::Note);
        let confirmed = with_cookie(&rotated, |cookie| cookie.is_confirmed = true);
        assert_eq!(judge(&confirmed, &FIRST, 59), Judgement::Good);
        assert_eq!(judge(&confirmed, &FIRST, 60), Judgement::Reused);
    }

    #[test]
    fn a_session_ends_after_a_week_without_a_request_and_after_thirty_days_at_the_latest() {
        let mut session = session();
        let day = |days: i64| start() + (days * 24).hours();
        assert_ne!(session.judge(&FIRST, day(7) - 1.second()), Judgement::Over);
        assert_eq!(session.judge(&FIRST, day(7)), Judgement::Over);
        session.used_at = day(29);
        assert_ne!(session.judge(&FIRST, day(30) - 1.second()), Judgement::Over);
        assert_eq!(session.judge(&FIRST, day(30)), Judgement::Over);
        session.cookie = None;
        assert_eq!(session.judge(&FIRST, start()), Judgement::Over);
    }

    #[test]
    fn the_name_of_a_browser_is_short() {
        let chromium = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) \
             Chrome/140.0.0.0 Safari/537.36";
        let safari = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 \
             (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";
        let firefox =
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:141.0) Gecko/20100101 Firefox/141.0";
        for (agent, short) in [
            (chromium, "Chromium 140 on Linux"),
            (safari, "Safari 18 on iOS"),
            (firefox, "Firefox 141 on Windows"),
            (&format!("{chromium} Edg/140.1"), "Edge 140 on Linux"),
            ("curl/8.5.0 more", "curl/8.5.0"),
            ("", ""),
            ("\u{202e}evil\u{200b}<b>", "evil<b>"),
        ] {
            assert_eq!(shortened(agent), short);
        }
        assert_eq!(shortened(&"x".repeat(1000)).len(), LONGEST_AGENT);
    }

    proptest! {
        #[test]
        fn a_browser_is_never_logged_out_by_lost_answers(steps in vec((0..7200_i64, any::<bool>()), 1..60)) {
            let mut session = session();
            let (mut now, mut held) = (start(), 1_u8);
            for (seconds, arrives) in steps {
                now += seconds.seconds();
                if now >= session.ends_at { break; }
                let judgement = session.judge(&[held; 32], now);
                prop_assert!(!matches!(judgement, Judgement::Over | Judgement::Reused), "{judgement:?}");
                session.used_at = now;
                let cookie = session.cookie.as_mut().unwrap();
                match judgement {
                    Judgement::Rotate => {
                        cookie.previous = Some([held; 32]);
                        cookie.digest = [held.wrapping_add(1); 32];
                        cookie.rotated_at = now;
                        cookie.is_confirmed = false;
                        if arrives { held = held.wrapping_add(1); }
                    }
                    Judgement::Repeat if arrives => held = held.wrapping_add(1),
                    Judgement::Note => cookie.is_confirmed = true,
                    Judgement::Repeat | Judgement::Good | Judgement::Reused | Judgement::Over => {}
                }
            }
        }
    }

    fn with_cookie(
        session: &SessionRecord,
        change: impl FnOnce(&mut CookieRecord),
    ) -> SessionRecord {
        let mut session = session.clone();
        change(session.cookie.as_mut().unwrap());
        session
    }

    fn session() -> SessionRecord {
        SessionRecord {
            id: SessionId::from_uuid(Uuid::from_u128(1)),
            user: UserId::from_uuid(Uuid::from_u128(2)),
            account: AccountId::from_uuid(Uuid::from_u128(3)),
            login: "login.password".to_owned(),
            agent: String::new(),
            address: None,
            created_at: start(),
            used_at: start(),
            ends_at: after(start(), limits::SESSION_LIFETIME),
            cookie: Some(CookieRecord {
                digest: FIRST,
                previous: None,
                csrf: [9; 32],
                rotated_at: start(),
                is_confirmed: true,
            }),
        }
    }

    fn start() -> Timestamp {
        Timestamp::from_second(1_790_000_000).unwrap()
    }
}
