/**
 * The description of one route.
 *
 * @module
 */

import type { SchemaName } from "./schemas.ts";

/** A header or a parameter of the query. */
export interface OperationParameter {
  /** Its name. */
  readonly name: string;
  /** Where it is. */
  readonly in: "query" | "header";
  /** Type of its value. */
  readonly type: "string" | "integer";
  /** Its meaning, and the default. */
  readonly description: string;
}

/** Types of responses that are text. */
export const TEXT_TYPES = {
  events: "text/event-stream",
  text: "text/plain",
  page: "text/html",
  script: "text/javascript",
  style: "text/css",
} as const;

/** Content of a response. */
export type ResponseContent = SchemaName | "none" | keyof typeof TEXT_TYPES;

/** The description of a route. */
export interface Operation {
  /** The HTTP method. */
  readonly method: string;
  /** The path, such as `/v1/sessions/{id}`. */
  readonly path: string;
  /** Name of the operation, unique. */
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  /** Required rights: none, those of any caller, or the right to read metrics. */
  readonly access: "public" | "caller" | "metrics";
  /** Parameters other than those of the path. Default: none. */
  readonly parameters?: readonly OperationParameter[];
  /** The body of the request. Default: none. */
  readonly body?: SchemaName;
  /** The content of the responses by status, other than the errors of every route. */
  readonly responses: Readonly<Record<number, ResponseContent>>;
}
