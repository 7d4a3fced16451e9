//! Every route of the public API on one page: method, path, right and endpoint.
//!
//! Paths are compared segment by segment, after decoding each one, and never normalised.

use crate::api::error::Failure;
use crate::api::gate::{Access, Gate, Request as GatedRequest};
use crate::api::{account, agents, chat, health, models, runs, schedules, webhooks};
use crate::app::App;
use crate::app::operations::finish;
use crate::domain::account::Right;
use crate::inbound::{BoxFuture, Head, Method, Request, Response, Service};

/// One line of the table.
struct Route {
    method: Method,
    path: &'static str,
    access: Access,
    endpoint: Endpoint,
}

/// What a route leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Endpoint {
    Healthz,
    Readyz,
    ShowAccount,
    ListModels,
    FindModel,
    Chat,
    ListAgents,
    CreateRun,
    ListRuns,
    FindRun,
    FindResult,
    CancelRun,
    ListSteps,
    DeleteRun,
    CreateSchedule,
    ListSchedules,
    PreviewSchedule,
    FindSchedule,
    PatchSchedule,
    DeleteSchedule,
    RunSchedule,
    ListTicks,
    CreateReceiver,
    ListReceivers,
    FindReceiver,
    DeleteReceiver,
    TestReceiver,
    ListDeliveries,
    ResendDelivery,
    RecoverDeliveries,
}

const AGENTS: Access = Access::Key(Some(Right::Agents));
const MODELS: Access = Access::Key(Some(Right::Models));
const ANY_KEY: Access = Access::Key(None);

#[rustfmt::skip]
const ROUTES: [Route; 31] = [
    route(Method::Get,    "/healthz",                   Access::Open, Endpoint::Healthz),
    route(Method::Get,    "/readyz",                    Access::Open, Endpoint::Readyz),
    route(Method::Get,    "/v1/account",                ANY_KEY,      Endpoint::ShowAccount),
    route(Method::Get,    "/v1/models",                 MODELS,       Endpoint::ListModels),
    route(Method::Get,    "/v1/models/{id}",            MODELS,       Endpoint::FindModel),
    route(Method::Post,   "/v1/chat/completions",       MODELS,       Endpoint::Chat),
    route(Method::Get,    "/v1/agents",                 AGENTS,       Endpoint::ListAgents),
    route(Method::Get,    "/v1/agents/",                AGENTS,       Endpoint::ListAgents),
    route(Method::Post,   "/v1/agents/runs",            AGENTS,       Endpoint::CreateRun),
    route(Method::Get,    "/v1/agents/runs",            AGENTS,       Endpoint::ListRuns),
    route(Method::Get,    "/v1/agents/runs/{id}",       AGENTS,       Endpoint::FindRun),
    route(Method::Delete, "/v1/agents/runs/{id}",       AGENTS,       Endpoint::DeleteRun),
    route(Method::Get,    "/v1/agents/runs/{id}/result", AGENTS,      Endpoint::FindResult),
    route(Method::Get,    "/v1/agents/runs/{id}/steps", AGENTS,       Endpoint::ListSteps),
    route(Method::Post,   "/v1/agents/runs/{id}/cancel", AGENTS,      Endpoint::CancelRun),
    route(Method::Post,   "/v1/agents/schedules",       AGENTS,       Endpoint::CreateSchedule),
    route(Method::Get,    "/v1/agents/schedules",       AGENTS,       Endpoint::ListSchedules),
    route(Method::Post,   "/v1/agents/schedules/preview", AGENTS,     Endpoint::PreviewSchedule),
    route(Method::Get,    "/v1/agents/schedules/{id}",  AGENTS,       Endpoint::FindSchedule),
    route(Method::Patch,  "/v1/agents/schedules/{id}",  AGENTS,       Endpoint::PatchSchedule),
    route(Method::Delete, "/v1/agents/schedules/{id}",  AGENTS,       Endpoint::DeleteSchedule),
    route(Method::Post,   "/v1/agents/schedules/{id}/run", AGENTS,    Endpoint::RunSchedule),
    route(Method::Get,    "/v1/agents/schedules/{id}/ticks", AGENTS,  Endpoint::ListTicks),
    route(Method::Post,   "/v1/webhooks",               AGENTS,       Endpoint::CreateReceiver),
    route(Method::Get,    "/v1/webhooks",               AGENTS,       Endpoint::ListReceivers),
    route(Method::Get,    "/v1/webhooks/{id}",          AGENTS,       Endpoint::FindReceiver),
    route(Method::Delete, "/v1/webhooks/{id}",          AGENTS,       Endpoint::DeleteReceiver),
    route(Method::Post,   "/v1/webhooks/{id}/test",     AGENTS,       Endpoint::TestReceiver),
    route(Method::Get,    "/v1/webhooks/{id}/deliveries", AGENTS,     Endpoint::ListDeliveries),
    route(Method::Post,   "/v1/webhooks/{id}/deliveries/{delivery}/resend", AGENTS, Endpoint::ResendDelivery),
    route(Method::Post,   "/v1/webhooks/{id}/recover",  AGENTS,       Endpoint::RecoverDeliveries),
];

const fn route(method: Method, path: &'static str, access: Access, endpoint: Endpoint) -> Route {
    Route { method, path, access, endpoint }
}

/// The public API; cheap to clone.
#[derive(Clone)]
pub struct Api {
    app: App,
}

impl Api {
    /// The API over the operations.
    #[must_use]
    pub const fn new(app: App) -> Self {
        Self { app }
    }

    async fn respond(&self, request: Request) -> Response {
        let id = request.head.id;
        let answer = match find(&request.head) {
            Ok((route, params)) => {
                let gate = Gate { app: &self.app };
                match gate.pass(request, route.access, params) {
                    Ok(request) => {
                        let standing = request.standing;
                        let answer = self.act(route, request).await;
                        standing.on(answer.unwrap_or_else(|it| it.answer(&id)))
                    }
                    Err(refused) => refused.standing.on(refused.failure.answer(&id)),
                }
            }
            Err(failure) => failure.answer(&id),
        };
        answer.with_header("cache-control", "no-store")
    }

    /// Does what a route is for; what changes something ends also when the caller has gone.
    async fn act(&self, route: &Route, request: GatedRequest) -> Result<Response, Failure> {
        let endpoint = route.endpoint;
        // A chat that nobody waits for stops by itself.
        if route.method == Method::Get || endpoint == Endpoint::Chat {
            return self.call(endpoint, request).await;
        }
        let api = self.clone();
        finish(&self.app, async move { api.call(endpoint, request).await }).await
    }

    async fn call(&self, endpoint: Endpoint, request: GatedRequest) -> Result<Response, Failure> {
        let app = &self.app;
        match endpoint {
            Endpoint::Healthz => Ok(health::alive()),
            Endpoint::Readyz => Ok(health::ready(app)),
            Endpoint::ShowAccount => account::show(app, &request),
            Endpoint::ListModels => models::list(app, &request),
            Endpoint::FindModel => models::find(app, &request),
            Endpoint::Chat => chat::complete(app, request).await,
            Endpoint::ListAgents => agents::list(app, &request),
            Endpoint::CreateRun => runs::create(app, request).await,
            Endpoint::ListRuns => runs::list(app, &request).await,
            Endpoint::FindRun => runs::find(app, &request),
            Endpoint::FindResult => runs::find_result(app, &request),
            Endpoint::ListSteps => runs::steps(app, &request),
            Endpoint::CancelRun => runs::cancel(app, &request).await,
            Endpoint::DeleteRun => runs::delete(app, &request).await,
            Endpoint::CreateSchedule => schedules::create(app, request).await,
            Endpoint::ListSchedules => schedules::list(app, &request),
            Endpoint::PreviewSchedule => schedules::preview(app, request).await,
            Endpoint::FindSchedule => schedules::find(app, &request),
            Endpoint::PatchSchedule => schedules::patch(app, request).await,
            Endpoint::DeleteSchedule => schedules::delete(app, &request).await,
            Endpoint::RunSchedule => schedules::run(app, &request).await,
            Endpoint::ListTicks => schedules::ticks(app, &request),
            Endpoint::CreateReceiver => webhooks::create(app, request).await,
            Endpoint::ListReceivers => webhooks::list(app, &request),
            Endpoint::FindReceiver => webhooks::find(app, &request),
            Endpoint::DeleteReceiver => webhooks::delete(app, &request).await,
            Endpoint::TestReceiver => webhooks::test(app, &request).await,
            Endpoint::ListDeliveries => webhooks::deliveries(app, &request).await,
            Endpoint::ResendDelivery => webhooks::resend(app, &request).await,
            Endpoint::RecoverDeliveries => webhooks::recover(app, request).await,
        }
    }
}

impl Service for Api {
    fn answer(&self, request: Request) -> BoxFuture<'_, Response> {
        Box::pin(self.respond(request))
    }
}

/// The route of a request, and what stands in the places of its path.
fn find(head: &Head) -> Result<(&'static Route, Vec<String>), Failure> {
    let segments = head.segments().ok_or(Failure::BadPath)?;
    let mut allowed = Vec::new();
    for route in &ROUTES {
        let Some(params) = matched(route.path, &segments) else { continue };
        if serves(route.method, head.method) {
            return Ok((route, params));
        }
        allowed.push(route.method);
    }
    if allowed.is_empty() { Err(Failure::NoRoute) } else { Err(Failure::NoMethod(allowed)) }
}

/// What stands in the places of `pattern`; `None` when it is another path.
fn matched(pattern: &str, segments: &[String]) -> Option<Vec<String>> {
    let mut params = Vec::new();
    let mut rest = segments.iter();
    for expected in pattern.split('/').skip(1) {
        let found = rest.next()?;
        if expected.starts_with('{') {
            params.push(found.clone());
        } else if expected != found {
            return None;
        }
    }
    rest.next().is_none().then_some(params)
}

/// Whether a route of one method serves a request of another: `HEAD` is a `GET` without the body.
fn serves(route: Method, request: Method) -> bool {
    route == request || (route == Method::Get && request == Method::Head)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(path: &str) -> Vec<String> {
        path.split('/').skip(1).map(str::to_owned).collect()
    }

    #[test]
    fn a_path_matches_segment_by_segment_and_as_a_whole() {
        let pattern = "/v1/agents/runs/{id}";
        assert_eq!(matched(pattern, &segments("/v1/agents/runs/7")), Some(vec!["7".to_owned()]));
        for path in ["/v1/agents/runs", "/v1/agents/runs/7/", "/v1/agents/x/7", "/V1/agents/runs/7"]
        {
            assert_eq!(matched(pattern, &segments(path)), None, "{path}");
        }
    }

    #[test]
    fn no_route_stands_in_the_way_of_another() {
        for (at, route) in ROUTES.iter().enumerate() {
            let same = |it: &&Route| it.method == route.method && it.path == route.path;
            assert_eq!(ROUTES.iter().filter(same).count(), 1, "{}", route.path);
            let earlier = ROUTES.iter().take(at);
            let example = segments(&route.path.replace("{id}", "some-id"));
            for other in earlier.filter(|it| it.method == route.method) {
                assert_eq!(matched(other.path, &example), None, "{} {}", other.path, route.path);
            }
        }
    }

    #[test]
    fn only_health_is_open_to_everybody() {
        let open = ROUTES.iter().filter(|it| it.access == Access::Open).map(|it| it.path);
        assert_eq!(open.collect::<Vec<_>>(), ["/healthz", "/readyz"]);
    }
}
