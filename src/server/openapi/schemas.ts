/**
 * The schemas of requests and responses. Bodies of requests are validated by them, and the description of the API has
 * them.
 *
 * @module
 */

import type { JsonSchema } from "../../core/json/json.ts";
import { PROBLEM_CODES } from "../http/problem.ts";

/** Pattern of the ids that clients may choose: those that need no encoding in a path. */
const ID_PATTERN = "^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,127}$";

const TEXT = { type: "string", minLength: 1, description: "The text of the message." };

const OBJECT = { type: "object" };

const IMAGES = {
  type: "array",
  maxItems: 20,
  description: "Images that belong to the message.",
  items: {
    type: "object",
    properties: {
      mediaType: { type: "string", pattern: "^image/[a-z0-9.+-]+$" },
      data: { type: "string", minLength: 1, description: "The image in Base64." },
    },
    required: ["mediaType", "data"],
    additionalProperties: false,
  },
};

const DECISION = {
  oneOf: [
    {
      type: "object",
      properties: {
        type: { const: "approved" },
        scope: {
          enum: ["once", "tool", "prefix"],
          description: "This call, all calls of the tool in the session, or those that begin so.",
        },
        prefix: { type: "string", description: "The prefix of commands or paths." },
        arguments: { type: "object", description: "Arguments to run instead." },
      },
      required: ["type"],
      additionalProperties: false,
    },
    {
      type: "object",
      properties: {
        type: { const: "denied" },
        reason: { type: "string", description: "The reason, which the model reads." },
      },
      required: ["type"],
      additionalProperties: false,
    },
  ],
};

const PENDING_APPROVALS = {
  type: "array",
  items: {
    type: "object",
    properties: {
      toolCallId: { type: "string" },
      name: { type: "string", description: "Name of the tool." },
      arguments: { type: "object", description: "The arguments to approve." },
    },
    required: ["toolCallId", "name", "arguments"],
  },
};

const AMOUNTS = { type: "object", additionalProperties: true };

const SUMMARY = {
  id: { type: "string" },
  created: { type: "number", description: "Milliseconds since the epoch." },
  updated: { type: "number", description: "Time of the last entry." },
  title: { type: "string" },
  firstPrompt: { type: "string", description: "Beginning of the first prompt." },
  user: { type: "string" },
  metadata: OBJECT,
  model: OBJECT,
  entries: { type: "integer", description: "Number of entries of the log." },
  messages: { type: "integer" },
  usage: { ...AMOUNTS, description: "Token counts of all runs." },
  cost: { ...AMOUNTS, description: "Cost of all runs; amounts are null if a price is unknown." },
};

const SUMMARY_REQUIRED = ["id", "created", "updated", "entries", "messages", "usage", "cost"];

const EVENT_ID = {
  type: "string",
  description: "A position in the events of the session, for the header Last-Event-ID.",
};

const STATUS = {
  enum: ["idle", "running", "awaiting_approval", "interrupted"],
  description: "interrupted: the last run has no end; POST …/continue continues it.",
};

const QUEUE = { type: "array", items: OBJECT };

/** The schemas by their names. */
export const SCHEMAS = {
  Error: {
    type: "object",
    properties: {
      error: {
        type: "object",
        properties: {
          code: { enum: PROBLEM_CODES },
          message: { type: "string", description: "The reason, and what to do." },
          retryAfterMs: { type: "number" },
        },
        required: ["code", "message"],
        additionalProperties: false,
      },
    },
    required: ["error"],
    additionalProperties: false,
  },
  CreateSession: {
    type: "object",
    properties: {
      id: {
        type: "string",
        pattern: ID_PATTERN,
        description: "Id of the session. Default: the time with a random suffix.",
      },
      title: { type: "string", minLength: 1, maxLength: 200 },
      metadata: { type: "object", description: "Data of the application." },
    },
    additionalProperties: false,
  },
  Prompt: {
    type: "object",
    properties: { text: TEXT, images: IMAGES },
    required: ["text"],
    additionalProperties: false,
  },
  Empty: { type: "object", additionalProperties: false },
  Abort: {
    type: "object",
    properties: { reason: { type: "string", maxLength: 1_000 } },
    additionalProperties: false,
  },
  Decisions: {
    type: "object",
    properties: {
      decisions: {
        type: "object",
        description: "The decision on every pending call, by its toolCallId.",
        minProperties: 1,
        additionalProperties: DECISION,
      },
    },
    required: ["decisions"],
    additionalProperties: false,
  },
  Session: {
    type: "object",
    properties: {
      ...SUMMARY,
      status: STATUS,
      runId: { type: "string" },
      pendingApprovals: PENDING_APPROVALS,
      queued: {
        type: "object",
        properties: { steering: QUEUE, followUp: QUEUE },
        required: ["steering", "followUp"],
      },
      streamingMessage: { type: "object", description: "The reply so far." },
      eventId: EVENT_ID,
    },
    required: [...SUMMARY_REQUIRED, "status", "pendingApprovals", "queued", "eventId"],
    additionalProperties: false,
  },
  CreatedSession: {
    type: "object",
    properties: { id: { type: "string" } },
    required: ["id"],
    additionalProperties: false,
  },
  Sessions: {
    type: "object",
    properties: {
      sessions: {
        type: "array",
        items: {
          type: "object",
          properties: { ...SUMMARY, isRunning: { type: "boolean" }, problem: { type: "string" } },
          required: [...SUMMARY_REQUIRED, "isRunning"],
          additionalProperties: false,
        },
      },
      cursor: { type: "string", description: "Requests the next page; missing on the last one." },
    },
    required: ["sessions"],
    additionalProperties: false,
  },
  Entries: {
    type: "object",
    properties: {
      entries: {
        type: "array",
        description: "Entries of the log, as docs/sessions.md describes them.",
        items: {
          type: "object",
          properties: {
            type: { type: "string" },
            id: { type: "string" },
            parentId: { type: ["string", "null"] },
            timestamp: { type: "number" },
          },
          required: ["type", "id", "parentId", "timestamp"],
        },
      },
      next: {
        type: "integer",
        description: "Value of after for the next page; missing on the last.",
      },
    },
    required: ["entries"],
    additionalProperties: false,
  },
  RunStarted: {
    type: "object",
    properties: {
      messageId: { type: "string", description: "Id of the message of the prompt." },
      runId: { type: "string", description: "Id of the run; missing for a repeated request." },
      eventId: EVENT_ID,
    },
    required: ["eventId"],
    additionalProperties: false,
  },
  Queued: {
    type: "object",
    properties: { id: { type: "string", description: "Id of the queued message." } },
    required: ["id"],
    additionalProperties: false,
  },
  Aborted: {
    type: "object",
    properties: { aborted: { type: "boolean", description: "Whether a run was active." } },
    required: ["aborted"],
    additionalProperties: false,
  },
  Approvals: {
    type: "object",
    properties: { pendingApprovals: PENDING_APPROVALS },
    required: ["pendingApprovals"],
    additionalProperties: false,
  },
  Health: {
    type: "object",
    properties: { status: { enum: ["ok", "ready", "shutting_down", "storage_failed"] } },
    required: ["status"],
    additionalProperties: false,
  },
  Description: {
    type: "object",
    properties: { openapi: { const: "3.1.0" } },
    required: ["openapi", "info", "paths"],
  },
} as const satisfies Readonly<Record<string, JsonSchema>>;

/** Name of a schema. */
export type SchemaName = keyof typeof SCHEMAS;
