//! Sessions of browsers: cookies, the requests that may use them, and their ends.

use std::time::Duration;

use axum::{body::Body, http::Request};
use link_backend::config::owner_proof::OwnerProof;
use serde_json::{Value, json};

use crate::harness::{Answer, MINUTE, PASSWORD, SECOND, World};

pub(crate) const SESSION: &str = "/api/v1/session";
const SESSIONS: &str = "/api/v1/sessions";
pub(crate) const ME: &str = "/api/v1/me";
pub(crate) const CHANGE: &str = "/api/v1/me/password";
const PUBLIC: &str = "https://link.example.org";
pub(crate) const OTHER_PASSWORD: &str = "another long password";
pub(crate) const HOUR: Duration = Duration::from_secs(60 * 60);
const CHROMIUM: &str = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) \
     Chrome/140.0.0.0 Safari/537.36";

/// A page in a browser, with the headers that the browser would send.
#[derive(Clone, Debug)]
pub(crate) struct Browser {
    pub(crate) host: String,
    pub(crate) origin: Option<String>,
    pub(crate) fetch_site: Option<String>,
    /// The whole `Cookie` header.
    pub(crate) cookie: Option<String>,
    pub(crate) csrf: Option<String>,
}

impl Browser {
    /// Returns a browser that has opened the backend on its own machine.
    pub(crate) fn local() -> Self {
        Self::at("127.0.0.1:8000", "http://127.0.0.1:8000")
    }

    pub(crate) fn public() -> Self {
        Self::at("link.example.org", PUBLIC)
    }

    fn at(host: &str, origin: &str) -> Self {
        Self {
            host: host.to_owned(),
            origin: Some(origin.to_owned()),
            fetch_site: Some("same-origin".to_owned()),
            cookie: None,
            csrf: Some("1".to_owned()),
        }
    }

    pub(crate) async fn send(
        &self,
        world: &World,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        let origin = if method == "GET" { &None } else { &self.origin };
        for (name, value) in [
            ("host", &Some(self.host.clone())),
            ("origin", origin),
            ("sec-fetch-site", &self.fetch_site),
            ("cookie", &self.cookie),
            ("x-link-csrf", &self.csrf),
            ("user-agent", &Some(CHROMIUM.to_owned())),
        ] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        let body = match body {
            Some(json) => {
                request = request.header("content-type", "application/json");
                Body::from(json.to_string())
            }
            None => Body::empty(),
        };
        world.send(request.body(body).unwrap()).await
    }

    pub(crate) async fn get(&self, world: &World, path: &str) -> Answer {
        self.send(world, "GET", path, None).await
    }

    /// Logs in and returns the browser with its cookie.
    pub(crate) async fn logged_in(&self, world: &World) -> Self {
        let answer = self.send(world, "POST", SESSION, Some(login(PASSWORD))).await;
        self.taking(&answer)
    }

    /// Returns the browser after the answer to its login.
    pub(crate) fn taking(&self, answer: &Answer) -> Self {
        assert_eq!(answer.status, 201, "{answer:?}");
        let csrf = Some(answer.text("csrf"));
        Self { csrf, ..self.keeping(answer) }
    }

    /// Returns the browser with the cookie that an answer sets.
    pub(crate) fn keeping(&self, answer: &Answer) -> Self {
        let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
        assert!(cookie.contains("=lcs_"), "{answer:?}");
        Self { cookie: Some(cookie), ..self.clone() }
    }
}

#[tokio::test]
async fn over_https_the_cookie_belongs_to_this_host_alone_and_no_script_reads_it() {
    let world = public().await;
    let browser = Browser::public();
    let answer = browser.send(&world, "POST", SESSION, Some(login(PASSWORD))).await;
    let cookie = answer.header("set-cookie").to_owned();
    assert!(cookie.starts_with("__Host-link=lcs_"), "{cookie}");
    let attributes = cookie.split_once("; ").unwrap().1;
    assert_eq!(attributes, "Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure");
    assert_eq!(answer.body["me"]["email"], "ada@example.org");
    assert_eq!(answer.body["me"]["role"], "owner");
    let browser = browser.taking(&answer);
    let me = browser.get(&world, ME).await;
    assert_eq!((me.status, &me.body), (200, &answer.body["me"]));
    // Reading needs no header. A header that is there has to be that of the session: a server on another port of this host
    // may have the cookie, and invents the rest.
    let invented = Browser { csrf: Some("1".to_owned()), ..browser.clone() };
    invented.get(&world, ME).await.is(401, "unauthorized");
    invented.send(&world, "DELETE", SESSION, None).await.is(401, "unauthorized");
    let without = Browser { csrf: None, ..browser.clone() };
    assert_eq!(without.get(&world, ME).await.status, 200);
    without.send(&world, "DELETE", SESSION, None).await.is(403, "cross-site-request");
}

#[tokio::test]
async fn what_a_cookie_shows_is_kept_by_no_cache() {
    let (world, token) = World::set_up().await;
    let browser = Browser::local().logged_in(&world).await;
    let login = browser.send(&world, "POST", SESSION, Some(login(PASSWORD))).await;
    let stream = browser.taking(&login).get(&world, "/api/v1/events").await;
    let read = world.get(ME, &token).await;
    for answer in [login, stream, read, browser.get(&world, "/api/v1/devices").await] {
        assert_eq!(answer.header("cache-control"), "no-store", "{answer:?}");
        assert!(answer.header("vary").contains("authorization, cookie"), "{answer:?}");
    }
    // Pages and scripts are the same for everybody, and set no cookie.
    for path in ["/", "/workspace"] {
        let page = browser.get(&world, path).await;
        assert_eq!((page.header("cache-control"), page.header("set-cookie")), ("no-cache", ""));
    }
}

#[tokio::test]
async fn nothing_may_frame_a_page_or_an_answer() {
    let (world, token) = World::set_up().await;
    for path in
        ["/", "/workspace", "/devices", "/login", "/setup", "/device", "/invite", ME, "/docs"]
    {
        let answer = world.get(path, &token).await;
        assert_eq!(answer.header("x-frame-options"), "DENY", "{path}");
        let policy = answer.header("content-security-policy");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
    }
}

#[tokio::test]
async fn over_plain_http_on_loopback_every_request_needs_the_secret_of_the_page() {
    let (world, _) = World::set_up().await;
    let browser = Browser::local().logged_in(&world).await;
    let cookie = browser.cookie.clone().unwrap();
    assert!(cookie.starts_with("link-8000=lcs_"), "{cookie}");
    assert_eq!(browser.get(&world, ME).await.status, 200);
    // A server on another port of this host has the cookie, but not the secret.
    let thief = Browser { csrf: None, ..browser.clone() };
    let guess = Browser { csrf: Some("lps_guess".to_owned()), ..browser.clone() };
    let own = Browser::local().logged_in(&world).await;
    let foreign = Browser { csrf: own.csrf, ..browser.clone() };
    for path in [ME, "/api/v1/devices", "/api/v1/events", "/api/v1/summary", SESSIONS] {
        thief.get(&world, path).await.is(403, "cross-site-request");
        guess.get(&world, path).await.is(401, "unauthorized");
        foreign.get(&world, path).await.is(401, "unauthorized");
    }
    // The cookie is no refresh token and no bearer token.
    let secret = cookie.split_once('=').unwrap().1;
    let body = json!({ "refresh_token": secret });
    world.post("/api/v1/auth/refresh", "", body).await.is(401, "unauthorized");
    world.get(ME, secret).await.is(401, "unauthorized");
    // Two backends on one machine do not overwrite each other's cookie.
    let neighbour = Browser::at("127.0.0.1:8001", "http://127.0.0.1:8001");
    let neighbour = Browser { cookie: browser.cookie.clone(), ..neighbour };
    neighbour.get(&world, ME).await.is(401, "unauthorized");
}

#[tokio::test]
async fn every_request_that_changes_something_comes_from_a_page_of_this_backend() {
    let world = public().await;
    let (public, local) = (Browser::public(), Browser::local());
    let document: Value = serde_json::from_str(&link_backend::openapi_json()).unwrap();
    let mut refused = 0;
    for browser in [public.logged_in(&world).await, local.logged_in(&world).await] {
        let forged = [
            Browser { csrf: None, ..browser.clone() },
            Browser { origin: Some("https://evil.example".into()), ..browser.clone() },
            Browser { origin: Some("null".into()), fetch_site: None, ..browser.clone() },
            Browser { origin: None, fetch_site: None, ..browser.clone() },
            Browser { fetch_site: Some("cross-site".into()), ..browser.clone() },
            Browser { fetch_site: Some("same-site".into()), ..browser.clone() },
            Browser { fetch_site: Some("none".into()), origin: None, ..browser.clone() },
        ];
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let is_unsafe = ["post", "put", "patch", "delete"].contains(&method.as_str());
                let has_cookie = operation["security"].to_string().contains("access_token")
                    || path == SESSION
                    || path == "/api/v1/members/accept";
                if !is_unsafe || !has_cookie {
                    continue;
                }
                let path = path.replace("{session_id}", &format!("ses_{}", "0".repeat(32)));
                let method = method.to_uppercase();
                for page in &forged {
                    let answer = page.send(&world, &method, &path, Some(json!({}))).await;
                    assert_eq!(
                        answer.body["code"], "cross-site-request",
                        "{method} {path} {page:?}"
                    );
                    refused += 1;
                }
            }
        }
        assert_eq!(browser.get(&world, ME).await.status, 200, "nothing was changed");
    }
    assert!(refused > 500, "{refused}");
}

#[tokio::test]
async fn a_page_of_another_site_reads_nothing_with_the_cookie() {
    let world = public().await;
    for browser in [Browser::public(), Browser::local()] {
        let browser = browser.logged_in(&world).await;
        for site in ["cross-site", "same-site", "nonsense"] {
            let page = Browser { fetch_site: Some(site.to_owned()), ..browser.clone() };
            for path in [ME, "/api/v1/events", "/api/v1/devices"] {
                page.get(&world, path).await.is(403, "cross-site-request");
            }
        }
    }
}

#[tokio::test]
async fn a_login_needs_a_page_of_this_backend_too() {
    let (world, _) = World::set_up().await;
    let local = Browser::local();
    for page in [
        Browser { csrf: None, ..local.clone() },
        Browser { fetch_site: None, origin: None, ..local.clone() },
        Browser { fetch_site: Some("cross-site".into()), ..local.clone() },
        Browser { origin: Some("http://127.0.0.1:8001".into()), ..local.clone() },
    ] {
        let answer = page.send(&world, "POST", SESSION, Some(login(PASSWORD))).await;
        answer.is(403, "cross-site-request");
        assert_eq!(answer.header("set-cookie"), "");
    }
    let old = Browser { fetch_site: None, ..local };
    old.logged_in(&world).await;
}

#[tokio::test]
async fn a_name_that_is_not_the_backends_own_gets_nothing() {
    let (plain, _) = World::set_up().await;
    let public = public().await;
    for host in ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "192.168.0.7:8000"]
    {
        let browser = Browser::local().logged_in(&public).await;
        let origin = Some(format!("http://{host}"));
        // A rebound name: to the browser the page and the backend are one origin.
        let rebound = Browser { host: host.to_owned(), origin, ..browser };
        for (world, code) in [(&public, "unknown-host"), (&plain, "plain-http")] {
            rebound.send(world, "POST", SESSION, Some(login(PASSWORD))).await.is(403, code);
            rebound.get(world, ME).await.is(403, code);
        }
    }
    let twice = Request::get(ME).header("host", "127.0.0.1:8000").header("host", "localhost:8000");
    let twice = twice.header("cookie", "link-8000=lcs_x").body(Body::empty()).unwrap();
    plain.send(twice).await.is(403, "unknown-host");
}

#[tokio::test]
async fn plain_http_on_the_network_logs_nobody_in_and_says_why() {
    let lan = "http://192.168.0.7:8000";
    let world = World::with(|config| config.public_url = Some(lan.to_owned())).await;
    let token = world.create_first_account().await;
    let browser = Browser { fetch_site: None, ..Browser::at("192.168.0.7:8000", lan) };
    let answer = browser.send(&world, "POST", SESSION, Some(login(PASSWORD))).await;
    answer.is(403, "plain-http");
    assert!(answer.text("hint").contains("https") && answer.text("hint").contains("127.0.0.1"));
    assert_eq!(answer.header("set-cookie"), "");
    // Programs go on with their tokens.
    let request = Request::get(ME).header("host", "192.168.0.7:8000");
    let request = request.header("authorization", format!("Bearer {token}"));
    assert_eq!(world.send(request.body(Body::empty()).unwrap()).await.status, 200);
}

#[tokio::test]
async fn a_token_and_a_cookie_are_never_mixed() {
    let (world, _) = World::set_up().await;
    let bob = world.another_account("bob@example.org").await;
    let ada = Browser::local().logged_in(&world).await;
    let both = |token: &str| {
        let request = Request::get(ME).header("host", ada.host.as_str());
        let request = request.header("cookie", ada.cookie.as_deref().unwrap());
        let request = request.header("x-link-csrf", ada.csrf.as_deref().unwrap());
        let request = request.header("authorization", token.to_owned());
        world.send(request.body(Body::empty()).unwrap())
    };
    assert_eq!(both(&format!("Bearer {bob}")).await.text("email"), "bob@example.org");
    for token in ["Bearer nonsense", "Basic eDp5", ""] {
        both(token).await.is(401, "unauthorized");
    }
}

#[tokio::test]
async fn a_login_never_takes_up_a_session_that_was_there_before() {
    let (world, _) = World::set_up().await;
    // An attacker's session, and a secret of the attacker's choice.
    let attacker = Browser::local().logged_in(&world).await;
    let invented = Browser { cookie: Some("link-8000=lcs_invented".into()), ..Browser::local() };
    for planted in [attacker.clone(), invented] {
        let victim = planted.logged_in(&world).await;
        assert_ne!(victim.cookie, planted.cookie);
        planted.get(&world, ME).await.is(401, "unauthorized");
        assert_eq!(victim.get(&world, ME).await.status, 200);
    }
}

#[tokio::test]
async fn two_cookies_of_one_name_are_refused() {
    let (world, _) = World::set_up().await;
    let browser = Browser::local().logged_in(&world).await;
    let own = browser.cookie.clone().unwrap();
    for tossed in [format!("{own}; link-8000=lcs_x"), format!("link-8000=lcs_x; {own}")] {
        let browser = Browser { cookie: Some(tossed), ..browser.clone() };
        browser.get(&world, ME).await.is(403, "ambiguous-session");
        let again = browser.send(&world, "POST", SESSION, Some(login(PASSWORD))).await;
        again.is(403, "ambiguous-session");
    }
    assert_eq!(browser.get(&world, ME).await.status, 200);
}

#[tokio::test]
async fn the_secret_of_a_cookie_is_replaced_and_the_use_of_an_old_one_ends_the_session() {
    let (world, _) = World::set_up().await;
    let first = Browser::local().logged_in(&world).await;
    world.advance(HOUR);
    let renewed = first.get(&world, ME).await;
    let second = first.keeping(&renewed);
    assert_ne!(first.cookie, second.cookie);
    // The answer was lost: the same successor comes again, until it is used.
    world.advance(5 * MINUTE);
    let repeated = first.get(&world, ME).await;
    assert_eq!(first.keeping(&repeated).cookie, second.cookie);
    assert_eq!(second.get(&world, ME).await.status, 200);
    let late = first.get(&world, ME).await;
    late.is(401, "unauthorized");
    second.get(&world, ME).await.is(401, "unauthorized");
    let again = Browser::local().logged_in(&world).await;
    let said = again.get(&world, "/api/v1/audit?action=login.reuse").await;
    assert_eq!(said.items().len(), 1);
}

#[tokio::test]
async fn requests_at_once_with_one_old_secret_get_one_successor() {
    let (world, _) = World::set_up().await;
    let first = Browser::local().logged_in(&world).await;
    world.advance(HOUR);
    let (one, other, third) = tokio::join!(
        first.get(&world, ME),
        first.get(&world, "/api/v1/devices"),
        first.get(&world, SESSIONS),
    );
    let second = first.keeping(&one);
    assert_eq!(first.keeping(&other).cookie, second.cookie);
    assert_eq!(first.keeping(&third).cookie, second.cookie);
    assert_eq!(second.get(&world, ME).await.status, 200);
    assert_eq!(first.get(&world, ME).await.status, 200, "was under way");
}

#[tokio::test]
async fn a_session_ends_after_a_week_without_use_and_after_thirty_days() {
    let (world, _) = World::set_up().await;
    let (mut used, idle) =
        (Browser::local().logged_in(&world).await, Browser::local().logged_in(&world).await);
    for day in 1..30 {
        world.advance(24 * HOUR);
        let answer = used.get(&world, ME).await;
        assert_eq!(answer.status, 200, "day {day}");
        used = used.keeping(&answer);
        let expected = if day < 7 { 2 } else { 1 };
        let listed = used.get(&world, SESSIONS).await;
        assert_eq!(browsers(&listed).len(), expected, "day {day}");
    }
    idle.get(&world, ME).await.is(401, "unauthorized");
    world.advance(24 * HOUR);
    used.get(&world, ME).await.is(401, "unauthorized");
    world.backend.app.purge().await.unwrap();
    assert!(rows(&world).await.is_empty());
}

#[tokio::test]
async fn a_person_lists_their_sessions_and_ends_them() {
    let (world, token) = World::set_up().await;
    let (one, other) =
        (Browser::local().logged_in(&world).await, Browser::local().logged_in(&world).await);
    world.advance(5 * MINUTE);
    let listed = one.get(&world, SESSIONS).await;
    let items = listed.items();
    assert_eq!(items.len(), 3, "{listed:?}");
    assert_eq!(
        (&items[0]["current"], &items[0]["agent"]),
        (&json!(true), &json!("Chromium 140 on Linux"))
    );
    assert_eq!(items[0]["last_used_at"], "2026-09-21T14:18:20Z");
    assert_eq!(
        (&items[0]["kind"], &items[0]["login"]),
        (&json!("browser"), &json!("login.password"))
    );
    assert_eq!(items.iter().filter(|item| item["kind"] == "program").count(), 1);
    let end = |item: &Value| format!("{SESSIONS}/{}", item["session_id"].as_str().unwrap());
    let of_other = items.iter().find(|item| item["kind"] == "browser" && item["current"] == false);
    assert_eq!(one.send(&world, "DELETE", &end(of_other.unwrap()), None).await.status, 204);
    other.get(&world, ME).await.is(401, "unauthorized");
    one.send(&world, "DELETE", &end(of_other.unwrap()), None).await.is(404, "not-found");
    // Nobody ends the session of another person.
    let bob = world.another_account("bob@example.org").await;
    world.delete(&end(&items[0]), &bob).await.is(404, "not-found");
    // The program that set the account up is logged out as well.
    assert_eq!(one.send(&world, "DELETE", SESSIONS, None).await.status, 204);
    world.get(ME, &token).await.is(401, "unauthorized");
    assert_eq!(world.get(ME, &bob).await.status, 200);
    assert_eq!(one.get(&world, SESSIONS).await.items().len(), 1);
}

#[tokio::test]
async fn the_session_of_a_program_names_the_program_whichever_way_it_has_logged_in() {
    let (world, ada) = World::set_up().await;
    let account = world.get(ME, &ada).await.text("account_id");
    let login = json!({ "email": "ada@example.org", "password": PASSWORD });
    for (agent, path, token, body) in [
        ("link/1.3.0 (x86_64)", "/api/v1/auth/login", None, login),
        ("curl/8.5.0", "/api/v1/auth/account", Some(&ada), json!({ "account_id": account })),
    ] {
        let mut request = Request::post(path)
            .header("content-type", "application/json")
            .header("user-agent", agent);
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let answer = world.send(request.body(Body::from(body.to_string())).unwrap()).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let listed = world.get(SESSIONS, &answer.text("access_token")).await;
        let items = listed.items();
        let mine = items.iter().find(|item| item["current"] == true).unwrap();
        let first = agent.split(' ').next().unwrap();
        assert_eq!((&mine["kind"], &mine["agent"]), (&json!("program"), &json!(first)));
    }
}

#[tokio::test]
async fn a_logout_ends_the_session_and_deletes_the_cookie() {
    let (world, token) = World::set_up().await;
    let browser = Browser::local().logged_in(&world).await;
    let out = browser.send(&world, "DELETE", SESSION, None).await;
    assert_eq!(out.status, 204);
    let deleted = "link-8000=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict";
    assert_eq!(out.header("set-cookie"), deleted);
    browser.get(&world, ME).await.is(401, "unauthorized");
    assert_eq!(world.delete(SESSION, &token).await.status, 204);
    world.get(ME, &token).await.is(401, "unauthorized");
}

#[tokio::test]
async fn a_new_password_ends_every_other_session_and_replaces_the_cookie() {
    let (world, token) = World::set_up().await;
    let browser = Browser::local().logged_in(&world).await;
    let other = Browser::local().logged_in(&world).await;
    let change = |current: &str, new: &str| {
        let body = json!({ "current_password": current, "new_password": new });
        let browser = &browser;
        let world = &world;
        async move { browser.send(world, "POST", CHANGE, Some(body)).await }
    };
    change("wrong password", OTHER_PASSWORD).await.is(403, "wrong-password");
    change(PASSWORD, "short").await.is(422, "invalid-request");
    assert_eq!(other.get(&world, ME).await.status, 200);
    let changed = change(PASSWORD, OTHER_PASSWORD).await;
    assert_eq!(changed.status, 204);
    other.get(&world, ME).await.is(401, "unauthorized");
    world.get(ME, &token).await.is(401, "unauthorized");
    browser.get(&world, ME).await.is(401, "unauthorized");
    assert_eq!(browser.keeping(&changed).get(&world, ME).await.status, 200);
    let fresh = Browser::local();
    let old = fresh.send(&world, "POST", SESSION, Some(login(PASSWORD))).await;
    old.is(401, "invalid-credentials");
    let new = fresh.send(&world, "POST", SESSION, Some(login(OTHER_PASSWORD))).await;
    assert_eq!(new.status, 201);
}

#[tokio::test]
async fn guesses_of_the_current_password_are_limited_like_logins() {
    let (world, _) = World::set_up().await;
    let browser = Browser::local().logged_in(&world).await;
    let body = json!({ "current_password": "wrong password", "new_password": OTHER_PASSWORD });
    let mut answers = Vec::new();
    for _ in 0..11 {
        answers.push(browser.send(&world, "POST", CHANGE, Some(body.clone())).await.status);
    }
    assert_eq!(answers.iter().filter(|status| **status == 429).count(), 2, "{answers:?}");
    let login = Browser::local().send(&world, "POST", SESSION, Some(login(PASSWORD))).await;
    login.is(429, "too-many-attempts");
    assert!(login.header("retry-after").parse::<u64>().unwrap() <= 60);
}

#[tokio::test]
async fn a_browser_logs_in_with_the_setup_token_an_invitation_and_a_code() {
    let world = World::new().await;
    let token = world.backend.app.setup_token().unwrap();
    let setup = json!({
        "with": "setup", "setup_token": token.expose(), "email": "ada@example.org",
        "password": PASSWORD,
    });
    let local = Browser::local();
    let answer = local.send(&world, "POST", SESSION, Some(setup)).await;
    let ada = local.taking(&answer);
    assert_eq!(ada.get(&world, ME).await.text("email"), "ada@example.org");
    let invite = Some(json!({ "role": "viewer" }));
    let invited = ada.send(&world, "POST", "/api/v1/members/invitations", invite.clone()).await;
    let accept = json!({
        "with": "invitation", "invitation_token": invited.text("invitation_token"),
        "email": "bob@example.org", "password": PASSWORD,
    });
    let bob = local.taking(&local.send(&world, "POST", SESSION, Some(accept)).await);
    assert_eq!(bob.get(&world, ME).await.text("role"), "viewer");

    // A person who is logged in joins another account, and returns to their own.
    world.another_account("carol@example.org").await;
    let carols = json!({ "with": "password", "email": "carol@example.org", "password": PASSWORD });
    let carol = local.taking(&local.send(&world, "POST", SESSION, Some(carols)).await);
    let own = carol.get(&world, ME).await.text("account_id");
    let invited = ada.send(&world, "POST", "/api/v1/members/invitations", invite).await;
    let accept = json!({
        "with": "invitation", "invitation_token": invited.text("invitation_token"),
    });
    let joined = carol.taking(&carol.send(&world, "POST", SESSION, Some(accept)).await);
    assert_ne!(joined.get(&world, ME).await.text("account_id"), own);
    let back = json!({ "with": "account", "account_id": own });
    let back = joined.taking(&joined.send(&world, "POST", SESSION, Some(back)).await);
    assert_eq!(back.get(&world, ME).await.text("role"), "owner");
    joined.get(&world, ME).await.is(401, "unauthorized");

    let world = World::with(|config| config.owner_proof = OwnerProof::File).await;
    let proof = crate::local_owner::proof_of(&world);
    world.post("/api/v1/auth/local/login", "", json!({ "proof": proof })).await;
    let code = world.post("/api/v1/auth/local/code", "", json!({ "proof": proof })).await;
    let redeem = json!({ "with": "code", "code": code.text("code") });
    let owner = local.taking(&local.send(&world, "POST", SESSION, Some(redeem.clone())).await);
    assert_eq!(owner.get(&world, ME).await.text("role"), "owner");
    let twice = local.send(&world, "POST", SESSION, Some(redeem)).await;
    twice.is(401, "one-time-code-invalid");
}

#[tokio::test]
async fn only_digests_of_the_secrets_are_stored() {
    let (world, _) = World::set_up().await;
    let browser = Browser::local().logged_in(&world).await;
    world.advance(HOUR);
    let browser = browser.keeping(&browser.get(&world, ME).await);
    let row = rows(&world).await.join("\n");
    for secret in [browser.csrf.unwrap(), browser.cookie.unwrap().split_off("link-8000=".len())] {
        assert!(secret.len() > 40 && !row.contains(&secret), "{row}");
    }
}

#[tokio::test]
async fn a_member_who_is_removed_is_logged_out() {
    let (world, owner) = World::set_up().await;
    world.member(&owner, "bob@example.org", "operator").await;
    let bob = json!({ "with": "password", "email": "bob@example.org", "password": PASSWORD });
    let local = Browser::local();
    let bob = local.taking(&local.send(&world, "POST", SESSION, Some(bob)).await);
    let user = bob.get(&world, ME).await.text("user_id");
    world.delete(&format!("/api/v1/members/{user}"), &owner).await;
    bob.get(&world, ME).await.is(401, "unauthorized");
}

#[tokio::test]
async fn a_person_has_a_bounded_number_of_browsers() {
    let (world, _) = World::set_up().await;
    let first = Browser::local().logged_in(&world).await;
    world.advance(SECOND);
    for _ in 0..50 {
        world.advance(10 * SECOND);
        Browser::local().logged_in(&world).await;
    }
    first.get(&world, ME).await.is(401, "unauthorized");
    let last = Browser::local();
    world.advance(MINUTE);
    let last = last.logged_in(&world).await;
    assert_eq!(browsers(&last.get(&world, SESSIONS).await).len(), 50);
}

/// Returns a backend with an address that people reach over https.
pub(crate) async fn public() -> World {
    let world = World::with(|config| config.public_url = Some(PUBLIC.to_owned())).await;
    world.create_first_account().await;
    world
}

pub(crate) fn login(password: &str) -> Value {
    json!({ "with": "password", "email": "ada@example.org", "password": password })
}

fn browsers(listed: &Answer) -> Vec<&Value> {
    listed.items().iter().filter(|item| item["kind"] == "browser").collect()
}

async fn rows(world: &World) -> Vec<String> {
    let statement = "SELECT digest || ' ' || COALESCE(previous_digest, '') || ' ' || csrf_digest \
         FROM sessions WHERE digest IS NOT NULL AND session_id <> $1";
    world.select(statement, "").await
}
