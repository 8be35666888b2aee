/**
 * The events of a run, from the response of a server.
 *
 * @module
 */

import { type AgentResult, findFailure } from "../agent/agent_result.ts";
import { toAgentResult } from "../agent/to_agent_result.ts";
import { AbortedError, AgentError, BadRequestError, NetworkError } from "../core/errors/errors.ts";
import type { AgentEvent } from "../core/events/event.ts";
import { findMessageProblem } from "../core/messages/check_message.ts";
import { createDeferred } from "../core/ports/deferred.ts";
import { type EventFormat, EventParser, toParseError } from "./event_parser.ts";
import { toIterable } from "./iterable_stream.ts";
import { checkResponse, createReadError, getMediaType, readError } from "./response_error.ts";

/** The events of a run that a server streams. Cancelling the stream closes the connection, which aborts the run. */
export interface ResponseStream extends ReadableStream<AgentEvent> {
  /** Resolves to the text of the last reply. Rejects with the error of the run, of the response or of the connection. */
  text(): Promise<string>;
  /**
   * Resolves to the result of the run when it has ended, also if it failed and if the stream is read elsewhere. Rejects
   * with the error of the response or of the connection.
   */
  result(): Promise<AgentResult>;
}

/**
 * Reads a response of `AgentStream.toResponse()` in the format `sse` or `ndjson`.
 *
 * The stream ends after `agent_end`. It fails with an {@linkcode AgentError}: that of the server if there is no run, such
 * as `already_running`; `network_error` if the connection ends before the run; `aborted` if the request is aborted;
 * `stream_error` if an event is malformed; `bad_request` if the response has another format. Events are not validated
 * otherwise, so that the server must be trusted.
 *
 * @throws {BadRequestError} If the value is no response, or its body is being read.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { readResponse } from "@swink/agent/client";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const agent = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hello!")]) });
 * const response = agent.promptStream("Greet me").toResponse({ format: "ndjson" });
 * await readResponse(response).text(); // "Hello!"
 * ```
 */
export function readResponse(response: Response): ResponseStream {
  checkResponse(response);
  const reader = new ResponseReader(response);
  const stream = new ReadableStream<AgentEvent>({
    async pull(controller) {
      try {
        const event = await reader.read();
        if (event) controller.enqueue(event);
        else controller.close();
      } catch (error) {
        controller.error(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
  const result = async (): Promise<AgentResult> => {
    await 0; // Lets the caller read the stream after this call.
    if (!stream.locked) await drain(stream);
    return await reader.result;
  };
  const text = async (): Promise<string> => {
    const run = await result();
    const failure = findFailure(run);
    if (failure) throw failure;
    return run.text;
  };
  return Object.assign(toIterable(stream), { text, result });
}

/** Reads a stream to its end; the result has its error. */
async function drain(stream: ReadableStream<AgentEvent>): Promise<void> {
  const reader = stream.getReader();
  try {
    while (!(await reader.read()).done);
  } catch {
    // Reported by the result.
  } finally {
    reader.releaseLock();
  }
}

/** Reads the events of a response, and keeps the result of the run. */
class ResponseReader {
  readonly #response: Response;
  readonly #result = createDeferred<AgentResult>();
  #body: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #parser: EventParser | undefined;
  /** The events of the bytes read last. */
  #events: Iterator<AgentEvent, void> = [].values();
  #runId = "";
  #turns = 0;
  #ended = false;

  constructor(response: Response) {
    this.#response = response;
    // The error is also that of the stream, so that the result may stay unused.
    this.#result.promise.catch(() => {});
  }

  /** The result of the run. */
  get result(): Promise<AgentResult> {
    return this.#result.promise;
  }

  /** Returns the next event, or `undefined` at the end of the run. */
  async read(): Promise<AgentEvent | undefined> {
    // The server, or a proxy, may keep the connection open.
    if (this.#ended) return this.#closeBody();
    try {
      const event = await this.#readEvent();
      this.#record(event);
      return event;
    } catch (thrown) {
      const error = toParseError(thrown);
      this.#result.reject(error);
      this.#closeBody(error);
      throw error;
    }
  }

  /** Closes the connection. */
  async cancel(reason: unknown): Promise<void> {
    this.#result.reject(new AbortedError("The stream was cancelled", { cause: reason }));
    await (this.#body ?? this.#response.body)?.cancel(reason);
  }

  async #readEvent(): Promise<AgentEvent> {
    const parser = this.#parser ??= new EventParser(await getFormat(this.#response));
    while (true) {
      const { done, value } = this.#events.next();
      if (!done) return value;
      this.#events = parser.parse(await this.#readBytes());
    }
  }

  async #readBytes(): Promise<Uint8Array> {
    // The body may have been read since, as by another stream of the same response.
    if (!this.#body && this.#response.body?.locked) throw createReadError();
    this.#body ??= this.#response.body?.getReader();
    try {
      const part = await this.#body?.read();
      if (part?.value) return part.value;
    } catch (cause) {
      throw toConnectionError(cause);
    }
    throw new NetworkError("The connection was closed before the run ended");
  }

  /** Not awaited, since a body may hang when it is cancelled. */
  #closeBody(reason?: unknown): undefined {
    this.#body?.cancel(reason).catch(() => {});
  }

  #record(event: AgentEvent): void {
    switch (event.type) {
      case "agent_start":
        this.#runId = event.runId;
        return;
      case "turn_start":
        this.#turns = event.turn;
        return;
      case "agent_end": {
        const { type: _type, seq: _seq, ...outcome } = event;
        assertMessages(outcome.messages);
        const summary = { ...outcome, runId: this.#runId, turns: this.#turns };
        this.#result.resolve(toAgentResult(summary));
        this.#ended = true;
      }
    }
  }
}

function assertMessages(messages: unknown): void {
  if (!Array.isArray(messages)) {
    throw toParseError("agent_end has no messages");
  }
  for (const message of messages) {
    const problem = findMessageProblem(message);
    if (problem) throw toParseError(problem);
  }
}

function toConnectionError(cause: unknown): AgentError {
  if (AgentError.is(cause)) return cause;
  return cause instanceof DOMException && cause.name === "AbortError"
    ? new AbortedError("The request was aborted", { cause })
    : new NetworkError("The connection broke before the run ended", { cause });
}

/** Returns the format of a response; rejects with the error of one without a run. */
async function getFormat(response: Response): Promise<EventFormat> {
  if (!response.ok) throw await readError(response);
  const type = getMediaType(response);
  switch (type) {
    case "text/event-stream":
      return "sse";
    case "application/x-ndjson":
      return "ndjson";
    default:
      response.body?.cancel().catch(() => {});
      throw new BadRequestError(
        `The response has the content type "${type}": the server must use toResponse() with the format sse or ndjson`,
      );
  }
}
