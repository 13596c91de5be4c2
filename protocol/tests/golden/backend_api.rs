//! The bodies that people and scripts exchange with the backend.

use link_protocol::{
    backend_api::{
        Page,
        account::{
            AllowlistSetting, LoginRequest, Me, RefreshRequest, SetAllowlist, SetupRequest,
            TokenResponse,
        },
        audit::{Actor, ActorKind, AuditEntry, AuditOutcome},
        command::{
            CommandExplanation, CommandInfo, CommandOutcome, CommandStage, CommandState,
            OutcomeStatus,
        },
        deployment::{CreateDeployment, Deployment, ProxyWish, Serving},
        device::{ChangeDevice, Device, TransferDevice, UpdateDevice},
        device_flow::{
            DecideDevice, DeviceCodeRequest, DeviceCodeResponse, DeviceTokenRequest, InquireDevice,
            PendingDevice,
        },
        event::{Event, EventChange, EventKind, StreamEnd, StreamEndReason, StreamReady},
        key::{CreateKey, KeyCreated, KeyInfo},
        member::{
            AcceptInvitation, ChangeMember, EnterAccount, Invitation, InvitationCreated,
            InviteMember, Member, MemberRemoved, Membership, Role,
        },
        model::{ChangeModel, CreateModel, Model, ModelFacts},
        summary::{
            CommandCounts, DeploymentCounts, DeviceCounts, KeyCounts, ModelCounts, RepairCounts,
            RunningOperations, Summary, UsageToday, VersionCount,
        },
        token::{CreateToken, TokenCreated, TokenInfo},
        usage::{Usage, UsageBucket},
    },
    command::{CommandKind, ProxyFeatures},
    counter::Epoch,
    deployment::DeploymentState,
    id::{CommandId, UserId},
    key::{EnrolmentKey, KeyKind},
    local_api::Progress,
    permission::Permission,
    personal_token::PersonalToken,
    problem::{Code, Problem},
    report::{LifecycleStatus, ModelState},
    retire::{RetireCode, RetireRequest},
    secret::Secret,
};

use super::{
    Example, allowlist, body, device, id, key_of, model, parse, platform, port, request,
    rolled_back, sha256, system_sample, time, version,
};

pub(super) fn people() -> Vec<Example> {
    let password = || Secret::new("correct horse battery staple");
    let email = || "ada@example.org".to_owned();
    let retire_code = RetireCode::sign(&key_of(3), device(), Epoch(1), time());
    vec![
        request(
            "setup_request",
            SetupRequest {
                setup_token: Secret::new("lst_example"),
                email: email(),
                password: password(),
            },
        ),
        request("login_request", LoginRequest { email: email(), password: password() }),
        request("refresh_request", RefreshRequest { refresh_token: Secret::new("lrt_example") }),
        request("set_allowlist", SetAllowlist { origins: allowlist().origins().to_vec() }),
        request(
            "create_model",
            CreateModel {
                name: "Tiny".to_owned(),
                file_name: parse("tiny.gguf"),
                url: Some("https://models.example/tiny.gguf".to_owned()),
                sha256: Some(sha256()),
                size_bytes: Some(1000),
                plugin: "language_model".to_owned(),
                shared: true,
            },
        ),
        request(
            "change_model",
            ChangeModel { name: Some("Tiny 2".to_owned()), shared: Some(true) },
        ),
        request(
            "create_deployment",
            CreateDeployment {
                model_id: model(),
                device_id: device(),
                port: Some(port(8080)),
                alias: Some(parse("tiny")),
                serve: true,
                proxy: ProxyWish::default(),
                settings: None,
            },
        ),
        request(
            "create_key",
            CreateKey {
                kind: KeyKind::Fleet,
                name: "kitchens".to_owned(),
                expires_at: Some(time()),
                max_devices: Some(10),
                tags: vec!["kitchen".to_owned()],
            },
        ),
        request("retire_request", RetireRequest::from(&retire_code)),
        request(
            "invite_member",
            InviteMember { role: Role::Operator, email: Some(email()), expires_at: Some(time()) },
        ),
        request(
            "accept_invitation",
            AcceptInvitation {
                invitation_token: Secret::new("lit_example"),
                email: Some(email()),
                password: Some(password()),
            },
        ),
        request(
            "create_token",
            CreateToken {
                name: "ci".to_owned(),
                scopes: vec![Permission::ReadDevices, Permission::OperateServing],
                expires_at: Some(time()),
            },
        ),
        request(
            "device_code_request",
            DeviceCodeRequest { client_name: "laptop".to_owned(), client_id: None },
        ),
        request(
            "device_token_request",
            DeviceTokenRequest {
                device_code: Secret::new("ldc_example"),
                grant_type: None,
                client_id: None,
            },
        ),
        request("inquire_device", InquireDevice { user_code: "WDJB-MJHT".to_owned() }),
        request("decide_device", DecideDevice { user_code: "WDJB-MJHT".to_owned(), allow: true }),
        request(
            "change_device",
            ChangeDevice {
                add_tags: vec!["lab".to_owned()],
                remove_tags: vec!["spare".to_owned()],
                name: None,
            },
        ),
        request("change_member", ChangeMember { role: Role::Viewer }),
        request("enter_account", EnterAccount { account_id: id("acc_", 10) }),
        request("update_device", UpdateDevice { version: version() }),
        request(
            "transfer_device",
            TransferDevice::from(EnrolmentKey::from_secret(KeyKind::Registration, [7; 32])),
        ),
    ]
}

pub(super) fn answers() -> Vec<Example> {
    let command = CommandInfo {
        model_name: None,
        device_name: None,
        command_id: id("cmd_", 5),
        r#type: CommandKind::RepairServing,
        state: CommandState::Sent,
        model_id: Some(model()),
        device_id: device(),
        port: None,
        created_at: time(),
        expires_at: parse("2026-08-08T12:00:00Z"),
        result: None,
        superseded_by: None,
        note: None,
    };
    let key_info = KeyInfo {
        key_id: id("key_", 8),
        kind: KeyKind::Registration,
        name: "kitchen".to_owned(),
        created_at: time(),
        expires_at: None,
        max_devices: None,
        devices: 1,
        tags: vec![],
        revoked: false,
        created_by: Some(id("usr_", 9)),
    };
    let request_id = Some("0198f6c0a0b07c3e8d2f4a5b6c7d8e9f".to_owned());
    let offline = Problem::new(Code::DeviceOffline, "the device `kitchen` is offline");
    vec![
        body(
            "token_response",
            TokenResponse {
                access_token: Secret::new("eyJ.example"),
                token_type: "Bearer".to_owned(),
                expires_in: 900,
                refresh_token: Secret::new("lrt_example"),
            },
        ),
        body(
            "me",
            Me {
                user_id: id("usr_", 9),
                account_id: id("acc_", 10),
                account_name: Some(parse("ada")),
                email: "ada@example.org".to_owned(),
                role: Role::Owner,
            },
        ),
        body("command_info_sent", command.clone()),
        body(
            "command_info_processed",
            CommandInfo {
                state: CommandState::Processed,
                port: Some(port(9090)),
                result: Some(CommandOutcome {
                    status: OutcomeStatus::Succeeded,
                    output: "pipeline restarted on port 9090 with 2 allowed origins".to_owned(),
                    reported_at: time(),
                }),
                ..command.clone()
            },
        ),
        body(
            "command_info_superseded",
            CommandInfo {
                result: Some(CommandOutcome {
                    status: OutcomeStatus::Superseded,
                    output: format!("superseded by {}", id::<CommandId>("cmd_", 6)),
                    reported_at: time(),
                }),
                superseded_by: Some(id("cmd_", 6)),
                ..command.clone()
            },
        ),
        body(
            "command_explanation",
            CommandExplanation {
                command: command.clone(),
                stage: CommandStage::Delivered,
                deliveries: 1,
                next_delivery_at: Some(time()),
                device_online: true,
                device_last_seen_at: Some(time()),
                happened: "It was delivered once and not acknowledged.".to_owned(),
                why: "The device has not said that it keeps the command.".to_owned(),
                next: "Without an acknowledgement it expires.".to_owned(),
            },
        ),
        body("command_page", Page { items: vec![command], next_cursor: Some("next".to_owned()) }),
        body("deployment", deployment_answer()),
        body("deployment_page", Page { items: vec![deployment_answer()], next_cursor: None }),
        body("device", device_answer()),
        body("device_updated", Device { last_update: Some(rolled_back()), ..device_answer() }),
        body("device_sampled", Device { system: Some(system_sample()), ..device_answer() }),
        body("device_page", Page { items: vec![device_answer()], next_cursor: None }),
        body(
            "key_created",
            KeyCreated {
                key: EnrolmentKey::from_secret(KeyKind::Registration, [7; 32]),
                info: key_info.clone(),
            },
        ),
        body("key_page", Page { items: vec![key_info.clone()], next_cursor: None }),
        body("model", model_answer()),
        body("model_page", Page { items: vec![model_answer()], next_cursor: None }),
        body(
            "member",
            Member {
                user_id: id("usr_", 9),
                email: "ada@example.org".to_owned(),
                role: Role::Admin,
                joined_at: time(),
            },
        ),
        body(
            "allowlist_setting",
            AllowlistSetting {
                origins: allowlist().origins().to_vec(),
                defaults: vec![parse("http://localhost:8000")],
            },
        ),
        body(
            "member_removed",
            MemberRemoved { user_id: id("usr_", 13), revoked: vec![], taken_over: vec![key_info] },
        ),
        body(
            "token_created",
            TokenCreated {
                token: PersonalToken::from_secret([7; 32]),
                info: TokenInfo {
                    token_id: id("tok_", 12),
                    name: "ci".to_owned(),
                    scopes: vec![Permission::ReadAccount, Permission::ReadDevices],
                    created_at: time(),
                    expires_at: parse("2026-11-05T12:00:00Z"),
                    last_used_at: None,
                },
            },
        ),
        body(
            "device_code_response",
            DeviceCodeResponse {
                device_code: Secret::new("ldc_example"),
                user_code: "WDJB-MJHT".to_owned(),
                verification_uri: "https://link.example/device".to_owned(),
                verification_uri_complete: "https://link.example/device#WDJB-MJHT".to_owned(),
                expires_in: 600,
                interval: 5,
            },
        ),
        body(
            "pending_device",
            PendingDevice {
                user_code: "WDJB-MJHT".to_owned(),
                client_name: "laptop".to_owned(),
                address: "192.0.2.7".to_owned(),
                created_at: time(),
                expires_at: parse("2026-08-07T12:10:00Z"),
            },
        ),
        body(
            "audit_entry",
            AuditEntry {
                entry_id: id("aud_", 13),
                at: time(),
                actor: Actor {
                    kind: ActorKind::User,
                    id: Some(id::<UserId>("usr_", 9).to_string()),
                },
                action: "member.role".to_owned(),
                subject: id::<UserId>("usr_", 14).to_string(),
                address: Some("192.0.2.7".to_owned()),
                outcome: AuditOutcome::Done,
                detail: "viewer".to_owned(),
            },
        ),
        body(
            "membership",
            Membership {
                account_id: id("acc_", 10),
                account_name: Some(parse("ada")),
                role: Role::Owner,
                joined_at: time(),
                current: true,
            },
        ),
        body(
            "invitation_created",
            InvitationCreated {
                invitation_token: Secret::new("lit_example"),
                info: Invitation {
                    invitation_id: id("inv_", 11),
                    role: Role::Operator,
                    email: None,
                    created_at: time(),
                    expires_at: parse("2026-08-14T12:00:00Z"),
                },
            },
        ),
        body("usage_page", Page { items: vec![usage_answer()], next_cursor: None }),
        body("summary", summary_answer()),
        body("event", Event { item: Some(sampled()), ..event(EventChange::Changed) }),
        body("event_removed", event(EventChange::Removed)),
        body("stream_ready", StreamReady { resumed: true }),
        body("stream_end", StreamEnd { reason: StreamEndReason::SessionEnded }),
        body("problem", Problem { request_id, ..offline }),
        body("problem_without_hint", Problem::new(Code::NotFound, "there is no such device")),
    ]
}

fn event(change: EventChange) -> Event {
    let id = Some(device().to_string());
    Event { kind: EventKind::System, id, device_id: Some(device()), change, item: None }
}

/// A document with one member at each level, because a feature of the JSON library decides the order of several.
fn sampled() -> serde_json::Value {
    serde_json::json!({ "system": { "cpu_percent": 12.5 } })
}

fn summary_answer() -> Summary {
    Summary {
        devices: DeviceCounts {
            total: 4,
            online: 2,
            offline: 1,
            updating: 1,
            rolled_back: 1,
            nearly_full: 2,
        },
        deployments: DeploymentCounts {
            total: 5,
            stale: 1,
            failed: 1,
            in_progress: 1,
            serving: 2,
            serving_offline: 1,
            unserved: 1,
        },
        models: ModelCounts { total: 3, incomplete: 1 },
        commands: CommandCounts { open: 2, failed_last_day: 1 },
        repairs: RepairCounts { sent: 1 },
        keys: KeyCounts { total: 2, ending_within_week: 1 },
        operations: RunningOperations { running: 1 },
        versions: vec![VersionCount { version: version(), devices: 4 }],
        usage_today: UsageToday { prompt_tokens: 30, completion_tokens: 40, requests: 3 },
    }
}

fn usage_answer() -> Usage {
    Usage {
        device_id: device(),
        device_name: None,
        model_id: model(),
        model_name: None,
        begin: time(),
        bucket: UsageBucket::Hour,
        inferences: 3,
        uncounted: 1,
        prompt_tokens: 30,
        completion_tokens: 40,
        audio_ms: 0,
        images: 0,
        duration_ms: 5000,
    }
}

fn deployment_answer() -> Deployment {
    Deployment {
        model_name: None,
        task: None,
        device_name: None,
        deployment_id: id("dep_", 4),
        model_id: model(),
        publisher: Some(parse("ada")),
        device_id: device(),
        command_id: id("cmd_", 5),
        alias: parse("tiny"),
        port: port(8080),
        settings: link_protocol::plugin::Settings::default(),
        proxy: ProxyFeatures { cors: true, telemetry: false },
        state: DeploymentState::Completed,
        reason: None,
        progress: Progress { bytes_done: 1000, bytes_total: 1000 },
        allowlist_digest: allowlist().digest().to_owned(),
        stale: true,
        current: true,
        removed: false,
        serving: Some(Serving {
            state: ModelState::Serving,
            is_serving: true,
            port: port(8080),
            detail: None,
        }),
        created_at: time(),
        updated_at: time(),
    }
}

fn device_answer() -> Device {
    Device {
        device_id: device(),
        owner: Some(id("acc_", 10)),
        name: "kitchen".to_owned(),
        online: true,
        status: LifecycleStatus::Online,
        agent_version: version(),
        last_update: None,
        tags: vec!["kitchen".to_owned()],
        platform: platform(),
        key_id: Some(id("key_", 11)),
        registered_at: time(),
        last_seen_at: Some(time()),
        system: None,
    }
}

fn model_answer() -> Model {
    Model {
        model_id: model(),
        name: "Tiny".to_owned(),
        file_name: parse("tiny.gguf"),
        url: None,
        sha256: Some(sha256()),
        size_bytes: Some(1000),
        plugin: "language_model".to_owned(),
        shared: false,
        ready: true,
        facts: Some(ModelFacts {
            architecture: "llama".to_owned(),
            quantization: Some("Q4_K_M".to_owned()),
            parameters: 134_515_008,
            context_length: Some(8192),
            task: Some(link_protocol::task::Task::Chat),
            memory_bytes: 200_000_000,
        }),
        owned: true,
        publisher: Some(parse("ada")),
        created_at: time(),
    }
}
