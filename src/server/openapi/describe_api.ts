/**
 * The description of the API in OpenAPI 3.1.
 *
 * @module
 */

import type { JsonObject } from "../../core/json/json.ts";
import { type Operation, type ResponseContent, TEXT_TYPES } from "./operation.ts";
import { SCHEMAS } from "./schemas.ts";

/** Descriptions of the statuses. */
const DESCRIPTIONS: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted; the events of the session report what follows",
  204: "Deleted",
  400: "Invalid request",
  401: "No token, or one that is not accepted",
  403: "Not allowed",
  404: "Not found",
  408: "The body was not received in time",
  409: "Not possible in the present state",
  413: "The body is too large",
  415: "The body is not JSON",
  421: "Unknown host name",
  422: "The idempotency key belongs to another request",
  429: "A limit of the tenant was reached",
  503: "Not available",
};

/** Statuses of the errors of every route that needs a caller. */
const CALLER_ERRORS: readonly number[] = [401, 403, 421, 429, 503];

/** Statuses of the errors of every public route. */
const PUBLIC_ERRORS: readonly number[] = [403, 421];

/** Statuses of the errors of every route with a body. */
const BODY_ERRORS: readonly number[] = [400, 408, 413, 415];

/** Returns the content of all responses of an operation by status. */
function listResponses(operation: Operation): ReadonlyMap<number, ResponseContent> {
  const errors = [
    ...operation.access === "public" ? PUBLIC_ERRORS : CALLER_ERRORS,
    ...operation.body === undefined ? [] : BODY_ERRORS,
  ];
  const own = Object.entries(operation.responses).map(([status, content]) =>
    [Number(status), content] as const
  );
  return new Map([...errors.map((status) => [status, "Error"] as const), ...own]);
}

/** Describes operations. */
export function describeApi(operations: readonly Operation[], version: string): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const operation of operations) {
    const path = paths[operation.path] ??= {};
    path[operation.method.toLowerCase()] = describeOperation(operation);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Sessions of @swink/agent",
      version,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
      schemas: SCHEMAS,
    },
  };
}

function describeOperation(operation: Operation): JsonObject {
  const { name, summary, access, body, path, parameters = [] } = operation;
  const responses = [...listResponses(operation)].sort(([left], [right]) => left - right);
  return {
    operationId: name,
    summary,
    ...(access === "public" && { security: [] }),
    parameters: [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = ""]) => ({
        name: parameter,
        in: "path",
        required: true,
        schema: { type: "string" },
      })),
      ...parameters.map(({ type, ...parameter }) => ({ ...parameter, schema: { type } })),
    ],
    ...(body && {
      requestBody: { content: { "application/json": { schema: toReference(body) } } },
    }),
    responses: {
      ...Object.fromEntries(responses.map(([status, content]) => [status, {
        description: DESCRIPTIONS[status] ?? "Error",
        ...describeContent(content),
      }])),
      default: { description: "The server failed", ...describeContent("Error") },
    },
  };
}

function describeContent(content: ResponseContent): JsonObject {
  if (content === "none") return {};
  if (isTextType(content)) {
    return { content: { [TEXT_TYPES[content]]: { schema: { type: "string" } } } };
  }
  return { content: { "application/json": { schema: toReference(content) } } };
}

function isTextType(content: string): content is keyof typeof TEXT_TYPES {
  return Object.hasOwn(TEXT_TYPES, content);
}

function toReference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}
