/**
 * The options of telemetry.
 *
 * @module
 */

import { checkNames } from "../core/checks/check_names.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { Meter, OpenTelemetryApi, Tracer } from "./api.ts";

/** Returns the text that is recorded for a text of a conversation. */
export type ContentFilter = (text: string) => string;

/** Options for `telemetry()`. */
export interface TelemetryOptions {
  /** Creates the spans. Default: the tracer of the registered provider. */
  readonly tracer?: Tracer | undefined;
  /** Creates the metrics. Default: the meter of the registered provider. */
  readonly meter?: Meter | undefined;
  /**
   * Whether spans have the system prompt, the messages, the definitions of the tools, and the arguments and results of
   * calls. They may contain personal data. A function gets the text of each of these attributes, which is JSON, and
   * returns the text to record, such as one without keys; an attribute for which it throws is left out. Default: `false`.
   */
  readonly content?: boolean | ContentFilter | undefined;
  /** Name of the observed agents, such as `"reviewer"`. Default: none. */
  readonly agentName?: string | undefined;
  /** Purpose of the observed agents. Default: none. */
  readonly agentDescription?: string | undefined;
  /** Version of the observed agents. Default: none. */
  readonly agentVersion?: string | undefined;
  /** The npm package `@opentelemetry/api`, for bundles. Default: imported by the first call of `telemetry()`. */
  readonly api?: OpenTelemetryApi | undefined;
}

const NAMES: Readonly<Record<keyof TelemetryOptions, 1>> = {
  tracer: 1,
  meter: 1,
  content: 1,
  agentName: 1,
  agentDescription: 1,
  agentVersion: 1,
  api: 1,
};

/**
 * Checks the options of untyped callers.
 *
 * @throws {BadRequestError} If an option is unknown or has an invalid type.
 */
export function checkTelemetryOptions(options: TelemetryOptions): void {
  checkObject(options, "Pass options, as { content: true }, or none");
  checkNames(options, Object.keys(NAMES), "telemetry()");
  if (typeof options.content !== "function") checkType("content", options.content, "boolean");
  checkType("agentName", options.agentName, "string");
  checkType("agentDescription", options.agentDescription, "string");
  checkType("agentVersion", options.agentVersion, "string");
  checkType("tracer.startSpan", options.tracer && options.tracer.startSpan, "function");
  checkType("meter.createHistogram", options.meter && options.meter.createHistogram, "function");
  checkType("meter.createCounter", options.meter && options.meter.createCounter, "function");
}

function checkType(name: string, value: unknown, type: "boolean" | "string" | "function"): void {
  if (value === undefined || typeof value === type) return;
  throw new BadRequestError(`${name} must be a ${type}, not ${typeof value}`);
}
