/**
 * Calls an agent in a worker and blocks the calling thread until it returns.
 *
 * @module
 */

import { checkNames } from "../core/checks/check_names.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { describeValue } from "../core/errors/describe_value.ts";
import {
  AbortedError,
  AgentError,
  BadRequestError,
  getErrorMessage,
  StreamError,
} from "../core/errors/errors.ts";
import { startWorker, type WorkerThread } from "../platform/worker.ts";
import { createBuffer, type ReceivedText, receiveText } from "./sync_channel.ts";
import type { SyncCall, SyncRequest, SyncResponse, SyncRunOptions } from "./sync_request.ts";

/** Options for `promptSync()`: of the run, and of the thread that it blocks. */
export interface SyncOptions extends SyncRunOptions {
  /** Timeout after which the run is terminated, in milliseconds. Default: none. */
  readonly timeoutMs?: number | undefined;
  /**
   * Time after which a worker that shows no sign of life counts as lost, in milliseconds. A worker cannot show one while
   * the agent's code blocks its thread, such as a tool that calculates or waits synchronously. Default: 300,000.
   */
  readonly heartbeatMs?: number | undefined;
}

/** Time in which a worker must start, in milliseconds; it loads only a few small files before its first beat. */
const START_MS = 120_000;
const DEFAULT_HEARTBEAT_MS = 300_000;

/** Calls an agent in a worker; returns the result as JSON value. */
export function callSync(module: URL, call: SyncCall, options: SyncOptions): unknown {
  checkModule(module);
  const { timeoutMs = Infinity, heartbeatMs = DEFAULT_HEARTBEAT_MS } = options;
  assertLimits({ timeoutMs, heartbeatMs });
  const buffer = createBuffer();
  const worker = startThread();
  try {
    postRequest(worker, { module: String(module), call, buffer });
    const received = block(() =>
      receiveText(buffer, { timeoutMs, startMs: START_MS, heartbeatMs })
    );
    return parseResponse(getText(received, { timeoutMs, heartbeatMs }));
  } finally {
    worker.terminate();
  }
}

const OPTION_NAMES = ["maxTurns", "toolChoice", "streamOptions", "timeoutMs", "heartbeatMs"];

/**
 * Returns the options of a caller without those of the thread, for the worker; `ownNames` are further options of the
 * caller.
 *
 * @throws {BadRequestError} If the options are no object, or have an unknown name: others cannot reach the worker.
 */
export function pickRunOptions(
  options: SyncRunOptions,
  ownNames: readonly string[] = [],
): SyncRunOptions {
  checkObject(options, "Pass options such as { timeoutMs: 60_000 }");
  checkNames(options, [...OPTION_NAMES, ...ownNames], "the synchronous run");
  const { maxTurns, toolChoice, streamOptions } = options;
  return { maxTurns, toolChoice, streamOptions };
}

function checkModule(module: unknown): void {
  if (module instanceof URL) return;
  throw new BadRequestError(
    'Pass the URL of the module with the agent, such as new URL("./agent.ts", import.meta.url)',
  );
}

function assertLimits(limits: Readonly<Record<"timeoutMs" | "heartbeatMs", unknown>>): void {
  for (const [name, limit] of Object.entries(limits)) {
    if (typeof limit === "number" && limit > 0) continue;
    throw new BadRequestError(`${name} must be a number above 0, not ${describeValue(limit)}`);
  }
}

function getWorkerUrl(): URL {
  return new URL("./worker.ts", import.meta.url);
}

function startThread(): WorkerThread {
  try {
    return startWorker(getWorkerUrl());
  } catch (cause) {
    throw new BadRequestError(
      `Cannot run synchronously (${getErrorMessage(cause)}): use the asynchronous methods of Agent`,
      { cause },
    );
  }
}

function postRequest(worker: WorkerThread, request: SyncRequest): void {
  try {
    worker.postMessage(request);
  } catch (cause) {
    throw new BadRequestError(
      `The input and the options cannot be copied to another thread: ${getErrorMessage(cause)}`,
      { cause },
    );
  }
}

function block(receive: () => ReceivedText): ReceivedText {
  try {
    return receive();
  } catch (cause) {
    throw new BadRequestError(
      `Cannot block this thread (${getErrorMessage(cause)}): use the asynchronous methods of Agent`,
      { cause },
    );
  }
}

function getText(
  received: ReceivedText,
  { timeoutMs, heartbeatMs }: { readonly timeoutMs: number; readonly heartbeatMs: number },
): string {
  switch (received.type) {
    case "complete":
      return received.text;
    case "timeout":
      throw new AbortedError(`The run did not end within ${timeoutMs} ms`);
    case "lost":
      throw new StreamError(
        received.hasStarted
          ? `The worker with the agent has shown no sign of life for ${heartbeatMs} ms: it has ended, or its code blocks its thread`
          : `The worker did not start within ${START_MS} ms: the runtime must be allowed to load ${getWorkerUrl()}`,
      );
  }
}

function parseResponse(text: string): unknown {
  const response: SyncResponse = JSON.parse(text);
  if (response.type === "failed") throw AgentError.from(response.error);
  return response.value;
}
