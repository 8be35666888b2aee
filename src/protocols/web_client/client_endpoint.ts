/**
 * An HTTP endpoint for the runs of clients.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { isAgent } from "../../agent/is_agent.ts";
import { checkFunction } from "../../core/checks/check_function.ts";
import { checkNames } from "../../core/checks/check_names.ts";
import { checkNumber } from "../../core/checks/check_number.ts";
import { checkObject } from "../../core/checks/check_object.ts";
import { describeValue } from "../../core/errors/describe_value.ts";
import { AgentError, type AgentErrorCode } from "../../core/errors/errors.ts";
import { realSleep, type Sleep } from "../../core/ports/ports.ts";
import { KEEP_ALIVE_MS } from "../../core/streams/keep_alive.ts";
import { STREAM_HEADERS } from "../../core/streams/streamed_response.ts";
import { describeError } from "./describe_error.ts";
import { encodeEvents } from "./encode_events.ts";
import { readBody } from "./read_body.ts";
import { untilFree } from "./start_client_run.ts";

/** Options of the endpoints for clients, apart from the function that returns the agent. */
export interface ClientEndpointOptions {
  /** Maximum size of a request in bytes. Default: 10 MB. */
  readonly maxBytes?: number | undefined;
  /**
   * Milliseconds without an event after which a comment is sent, so that proxies keep the connection; 0 for none.
   * Default: 8,000.
   */
  readonly keepAliveMs?: number | undefined;
  /**
   * Returns the text of an error for the client: that of a run that has failed, or what `createAgent` has thrown. Default:
   * the message of the error of a run, and a text without details for what `createAgent` has thrown.
   */
  readonly onError?: ((error: unknown) => string) | undefined;
  /** Returns the time in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Waits before a comment is sent, and for the end of another run. Default: based on `setTimeout`. */
  readonly sleep?: Sleep | undefined;
}

/** Options of an endpoint, with the function that returns the agent of an input. */
export interface InputEndpointOptions<Input> extends ClientEndpointOptions {
  readonly createAgent: (
    input: Input,
    request: Request,
  ) => Agent | Response | Promise<Agent | Response>;
}

/** The protocol of an endpoint. */
export interface ClientProtocol<Input> {
  /** Parses the body of a request, which has arrived at this time. */
  readonly parse: (text: string, now: number) => Input;
  /** Starts the run of an input, and returns its events. */
  readonly start: (agent: Agent, input: Input) => ReadableStream<object>;
  /** Additional headers of the response. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Data that follows the last event. Default: none. */
  readonly end?: string;
  /** Returns the response to a request that starts no run. Default: JSON with the text as `error`. */
  readonly refuse?: (status: number, text: string) => Response;
}

const MAX_BYTES = 10_000_000;

/** Maximum time to receive a body: callers are authorized by its content, and others could hold connections. */
const BODY_MS = 60_000;

const OPTIONS = ["createAgent", "maxBytes", "keepAliveMs", "onError", "now", "sleep"];

/** Statuses of the errors that name a mistake of the client; the others are those of the server. */
const CLIENT_ERRORS: Partial<Record<AgentErrorCode, number>> = {
  already_running: 409,
  bad_request: 400,
};

/**
 * Checks the options of an endpoint; `name` is that of its function, `others` are the names of further options.
 *
 * @throws {BadRequestError} If an option is invalid.
 */
export function checkEndpointOptions<Input>(
  options: InputEndpointOptions<Input>,
  name: string,
  others: readonly string[] = [],
): void {
  checkObject(options, "Pass options, as { createAgent: () => agent }");
  checkNames(options, [...OPTIONS, ...others], name);
  checkFunction("createAgent", options.createAgent);
  checkNumber("maxBytes", options.maxBytes);
  checkNumber("keepAliveMs", options.keepAliveMs);
  if (options.onError !== undefined) checkFunction("onError", options.onError);
}

/** Creates a handler that runs agents for the `POST` requests of clients. */
export function createEndpoint<Input>(
  options: InputEndpointOptions<Input>,
  { parse, start, headers = {}, end, refuse = refuseAsJson }: ClientProtocol<Input>,
): (request: Request) => Promise<Response> {
  const { createAgent, maxBytes = MAX_BYTES, now = Date.now } = options;
  const { keepAliveMs = KEEP_ALIVE_MS, sleep = realSleep, onError = () => NOT_STARTED } = options;
  const encoding = { keepAliveMs, sleep, ...(end !== undefined && { end }) };
  return async (request) => {
    if (request.method !== "POST") return refuse(405, "Send a POST request");
    try {
      const input = parse(await readBody(request, { maxBytes, timeoutMs: BODY_MS }), now());
      const agent = await createAgent(input, request);
      if (agent instanceof Response) return agent;
      if (!isAgent(agent)) {
        return refuse(500, `createAgent must return an agent, not ${describeValue(agent)}`);
      }
      await untilFree(agent, sleep);
      const body = encodeEvents(start(agent, input), encoding);
      return new Response(body, { headers: { ...EVENT_HEADERS, ...headers } });
    } catch (thrown) {
      const status = AgentError.is(thrown) ? CLIENT_ERRORS[thrown.code] : undefined;
      if (AgentError.is(thrown) && status !== undefined) return refuse(status, thrown.message);
      return refuse(500, describeError(thrown, NOT_STARTED, onError));
    }
  };
}

const NOT_STARTED = "The run could not be started";

const EVENT_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  ...STREAM_HEADERS,
};

function refuseAsJson(status: number, error: string): Response {
  return Response.json({ error }, { status });
}
