/**
 * The routes of the server.
 *
 * @module
 */

import { describeApi } from "../openapi/describe_api.ts";
import type { Operation, OperationParameter } from "../openapi/operation.ts";
import { type Handle, respond } from "./call.ts";
import { streamEvents } from "./event_operations.ts";
import { createReadiness, getHealth, getMetrics } from "./health_operations.ts";
import {
  abortRun,
  continueRun,
  decideApprovals,
  followUpRun,
  listApprovals,
  sendPrompt,
  steerRun,
} from "./run_operations.ts";
import {
  createSession,
  deleteSession,
  getSession,
  listEntries,
  listSessions,
} from "./session_operations.ts";

/** A route and its handler. */
export interface Route extends Operation {
  /** Handles a request. */
  readonly handle: Handle;
}

/** Version of the API. */
const VERSION = "1.0.0";

const LIMIT: OperationParameter = {
  name: "limit",
  in: "query",
  type: "integer",
  description: "Size of the page, at most 200.",
};

const SESSION = "/v1/sessions/{id}";

const SESSION_ROUTES: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/sessions",
    name: "createSession",
    summary: "Creates a session.",
    access: "caller",
    body: "CreateSession",
    responses: { 201: "CreatedSession", 409: "Error" },
    handle: createSession,
  },
  {
    method: "GET",
    path: "/v1/sessions",
    name: "listSessions",
    summary: "Lists the sessions of the caller, the last written ones first.",
    access: "caller",
    parameters: [
      LIMIT,
      { name: "cursor", in: "query", type: "string", description: "The cursor of the last page." },
    ],
    responses: { 200: "Sessions", 400: "Error" },
    handle: listSessions,
  },
  {
    method: "GET",
    path: SESSION,
    name: "getSession",
    summary: "Describes a session and what it does.",
    access: "caller",
    responses: { 200: "Session", 404: "Error" },
    handle: getSession,
  },
  {
    method: "DELETE",
    path: SESSION,
    name: "deleteSession",
    summary: "Deletes a session for good.",
    access: "caller",
    responses: { 204: "none", 404: "Error", 409: "Error" },
    handle: deleteSession,
  },
  {
    method: "GET",
    path: `${SESSION}/entries`,
    name: "listEntries",
    summary: "Returns the entries of the log of a session.",
    access: "caller",
    parameters: [
      LIMIT,
      { name: "after", in: "query", type: "integer", description: "Number of entries to skip." },
    ],
    responses: { 200: "Entries", 400: "Error", 404: "Error" },
    handle: listEntries,
  },
];

const RUN_ROUTES: readonly Route[] = [
  {
    method: "POST",
    path: `${SESSION}/prompt`,
    name: "sendPrompt",
    summary: "Sends a prompt, which starts a run.",
    access: "caller",
    parameters: [{
      name: "Idempotency-Key",
      in: "header",
      type: "string",
      description: "A request that is repeated with the same key starts no second run.",
    }],
    body: "Prompt",
    responses: { 200: "RunStarted", 202: "RunStarted", 404: "Error", 409: "Error", 422: "Error" },
    handle: sendPrompt,
  },
  {
    method: "POST",
    path: `${SESSION}/continue`,
    name: "continueRun",
    summary: "Continues a run that was interrupted, aborted or failed.",
    access: "caller",
    body: "Empty",
    responses: { 202: "RunStarted", 404: "Error", 409: "Error" },
    handle: continueRun,
  },
  {
    method: "POST",
    path: `${SESSION}/steer`,
    name: "steerRun",
    summary: "Sends a message that the active run reads with its next model call.",
    access: "caller",
    body: "Prompt",
    responses: { 202: "Queued", 404: "Error", 409: "Error" },
    handle: steerRun,
  },
  {
    method: "POST",
    path: `${SESSION}/follow_up`,
    name: "followUpRun",
    summary: "Sends a message that the active run reads when it would otherwise end.",
    access: "caller",
    body: "Prompt",
    responses: { 202: "Queued", 404: "Error", 409: "Error" },
    handle: followUpRun,
  },
  {
    method: "POST",
    path: `${SESSION}/abort`,
    name: "abortRun",
    summary: "Aborts the active run.",
    access: "caller",
    body: "Abort",
    responses: { 202: "Aborted", 404: "Error" },
    handle: abortRun,
  },
  {
    method: "GET",
    path: `${SESSION}/approvals`,
    name: "listApprovals",
    summary: "Returns the tool calls that wait for decisions.",
    access: "caller",
    responses: { 200: "Approvals", 404: "Error" },
    handle: listApprovals,
  },
  {
    method: "POST",
    path: `${SESSION}/approvals`,
    name: "decideApprovals",
    summary: "Decides on all tool calls that wait, which continues the run.",
    access: "caller",
    body: "Decisions",
    responses: { 202: "RunStarted", 404: "Error", 409: "Error" },
    handle: decideApprovals,
  },
  {
    method: "GET",
    path: `${SESSION}/events`,
    name: "streamEvents",
    summary: "Streams the events of a session.",
    access: "caller",
    parameters: [
      {
        name: "Last-Event-ID",
        in: "header",
        type: "string",
        description: "The id of the last event; the stream begins after it.",
      },
      { name: "after", in: "query", type: "string", description: "The same, without the header." },
      {
        name: "types",
        in: "query",
        type: "string",
        description: "Types of events, separated by commas. Default: all.",
      },
    ],
    responses: { 200: "events", 400: "Error", 404: "Error" },
    handle: streamEvents,
  },
];

/** Creates the routes. */
export function createRoutes(pageRoutes: readonly Route[]): readonly Route[] {
  const routes: Route[] = [
    ...pageRoutes,
    {
      method: "GET",
      path: "/health",
      name: "getHealth",
      summary: "Reports that the process runs.",
      access: "public",
      responses: { 200: "Health" },
      handle: getHealth,
    },
    {
      method: "GET",
      path: "/ready",
      name: "getReadiness",
      summary: "Reports whether requests can be handled.",
      access: "public",
      responses: { 200: "Health", 503: "Health" },
      handle: createReadiness(),
    },
    {
      method: "GET",
      path: "/metrics",
      name: "getMetrics",
      summary: "Returns metrics for Prometheus.",
      access: "metrics",
      responses: { 200: "text" },
      handle: getMetrics,
    },
    {
      method: "GET",
      path: "/v1/openapi.json",
      name: "getDescription",
      summary: "Returns this description.",
      access: "caller",
      responses: { 200: "Description" },
      handle: () => respond(description),
    },
    ...SESSION_ROUTES,
    ...RUN_ROUTES,
  ];
  const description = describeApi(routes, VERSION);
  return routes;
}
