/**
 * Stream functions of providers that take one JSON request and answer with one streamed response.
 *
 * @module
 */

import { AgentError } from "../../src/core/errors/errors.ts";
import { BlockWriter } from "../../src/core/streams/block_writer.ts";
import type { StreamFn, StreamRequest } from "../../src/core/streams/stream.ts";
import type { ErrorOrigin } from "./errors/classify.ts";
import type { ErrorTable } from "./errors/error_table.ts";
import { post } from "./http/post.ts";
import { addEncodedForms, findHeaderSecrets, findUrlSecrets } from "./http/request_secrets.ts";
import { LimitReservation } from "./limits/limit_reservation.ts";
import {
  type AdapterSettings,
  type ApiKey,
  findApiKey,
  hasKeyHeader,
  requireApiKey,
} from "./options/adapter_options.ts";
import { checkStreamOptions } from "./options/check_options.ts";
import type { ContentReducer, RejectedContent } from "./request/rejected_content.ts";
import { omitImpossibleToolChoice } from "./request/tools.ts";
import { createNameDecoder, type NameRule, TOOL_NAME_RULE } from "./request/wire_names.ts";
import { withCatalog } from "./request/with_catalog.ts";
import {
  type Exchange,
  type FrameParser,
  type OpenReply,
  type ReplyReader,
  toEventStream,
} from "./stream/event_stream.ts";

/** An HTTP request that is ready to be sent. */
export interface OutgoingRequest {
  /** URL to post to. */
  readonly url: string;
  /** Headers, including those that carry the key. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON body. */
  readonly body: string;
  /** Where to send the request when there is no API at the URL. Default: nowhere. */
  readonly fallback?: FallbackUrl | undefined;
  /** Texts to redact from error messages, in addition to the key. */
  readonly secrets?: readonly string[] | undefined;
}

/** The URL of a request for a base URL that may lack a part of its path. */
export interface FallbackUrl {
  /** URL to post to. */
  readonly url: string;
  /** Called when there is an API at the URL. */
  readonly onUsed: () => void;
}

/** One model call, as passed to the methods of a {@linkcode Provider}. */
export interface ProviderCall {
  /** The model call. */
  readonly request: StreamRequest;
  /** Writes the reply and warnings about the request. */
  readonly writer: BlockWriter;
  /** Source of the errors of this call, for `classifyStreamError()`. */
  readonly origin: ErrorOrigin;
  /** Maps a tool name in the response to the name of the tool. */
  readonly decodeToolName: (wireName: string) => string;
}

/** The parts of an adapter that differ between providers. */
export interface Provider<Frame> {
  /** Provider name for error messages. Default: the provider of the model. */
  readonly name?: string | undefined;
  /** Settings of the adapter. */
  readonly settings: AdapterSettings;
  /** API key of the adapter. */
  readonly apiKey?: ApiKey | undefined;
  /** Whether requests are sent without a key when there is none. Default: `false`. */
  readonly keyless?: boolean | undefined;
  /** Advice for when no server listens at a local URL, such as how to start it; part of the error. */
  readonly connectHint?: string | undefined;
  /** Error codes and messages of the provider. */
  readonly errors?: ErrorTable | undefined;
  /** Tool names that the provider accepts. Default: {@linkcode TOOL_NAME_RULE}. */
  readonly toolNameRule?: NameRule | undefined;
  /** Builds the request. An error that it throws ends the reply. */
  prepare(
    call: ProviderCall,
    key: string | undefined,
  ): OutgoingRequest | Promise<OutgoingRequest>;
  /** Creates the parser that splits a response into frames. Called when the request has been sent. */
  createParser(): FrameParser<Frame> | Promise<FrameParser<Frame>>;
  /** Creates the reader that turns frames into the reply. Called when the request has been sent. */
  createReplyReader(call: ProviderCall): ReplyReader<Frame> | Promise<ReplyReader<Frame>>;
}

/** Creates the stream function of a provider. */
export function createStreamFn<Frame>(provider: Provider<Frame>): StreamFn {
  const { settings } = provider;
  const history: KnownHistory = {};
  return withCatalog((request) => {
    const reservation = new LimitReservation(settings.limiter, request);
    return toEventStream({
      request,
      settings,
      createExchange: (writer) =>
        new ProviderExchange(provider, { request, writer, reservation, history }),
      onEnd: (usage) => reservation.settle(usage),
    });
  }, settings.catalog);
}

interface ExchangeOptions extends Pick<ProviderCall, "request" | "writer"> {
  readonly reservation: LimitReservation;
  readonly history: KnownHistory;
}

/** Knowledge of earlier calls about the history. */
interface KnownHistory {
  /** Set once a provider has rejected content. */
  rejected?: RejectedContent;
}

/** A call that was sent, and what is left out when it is sent again. */
interface SentCall {
  readonly call: ProviderCall;
  readonly key: string | undefined;
  /** Set once the provider has rejected the request. */
  reducer?: ContentReducer;
}

/** Request and response of one call to a {@linkcode Provider}. */
class ProviderExchange<Frame> implements Exchange<Frame> {
  readonly #provider: Provider<Frame>;
  readonly #call: ProviderCall;
  readonly #reservation: LimitReservation;
  readonly #history: KnownHistory;
  /** Shared with the error origin of the call, so that secrets added later are redacted too. */
  readonly secrets: string[] = [];
  #sent: SentCall | undefined;

  constructor(
    provider: Provider<Frame>,
    { request, writer, reservation, history }: ExchangeOptions,
  ) {
    this.#provider = provider;
    this.#reservation = reservation;
    this.#history = history;
    const { headers, baseUrl, query } = provider.settings;
    const url = appendQuery(baseUrl, query);
    this.#addSecrets([...findHeaderSecrets(headers), ...findUrlSecrets(url)]);
    const { toolNameRule = TOOL_NAME_RULE } = provider;
    let decode: ((wireName: string) => string) | undefined;
    this.#call = {
      request,
      writer,
      origin: {
        provider: provider.name ?? request.model.provider,
        table: provider.errors,
        secrets: this.secrets,
        now: provider.settings.clock.now(),
      },
      decodeToolName(wireName) {
        decode ??= createNameDecoder(request.context.tools.map(({ name }) => name), toolNameRule);
        return decode(wireName);
      },
    };
  }

  async open(connection: AbortController): Promise<OpenReply<Frame>> {
    const { request, writer } = this.#call;
    const { settings, apiKey, keyless } = this.#provider;
    checkStreamOptions(request.options);
    const isKeyOptional = keyless || hasKeyHeader(settings);
    const key = isKeyOptional
      ? await findApiKey(request, apiKey)
      : await requireApiKey(request, { apiKey, keyHint: settings.keyHint });
    if (key) this.#addSecrets([key]);
    const possible = omitImpossibleToolChoice(request, writer);
    const adapted = this.#history.rejected?.adapt(possible, writer) ?? possible;
    const call = { ...this.#call, request: adapted };
    this.#sent = { call, key };
    const outgoing = await this.#prepare(call, key);
    await this.#reservation.reserve(writer, connection.signal);
    try {
      const [response, reader] = await Promise.all([
        this.#post(outgoing, connection).then(
          (body) => ({ body }),
          (error) => this.#postWithoutRejected(error, connection),
        ),
        this.#createReader(),
      ]);
      return { ...response, ...reader };
    } catch (error) {
      this.#reservation.release(error);
      throw error;
    }
  }

  async reopen(error: AgentError, connection: AbortController): Promise<OpenReply<Frame>> {
    try {
      const response = await this.#postWithoutRejected(error, connection);
      return { ...response, ...await this.#createReader() };
    } catch (other) {
      if (other !== error) this.#reservation.release(other);
      throw other;
    }
  }

  #addSecrets(secrets: readonly string[]): void {
    this.secrets.push(...addEncodedForms(secrets));
  }

  /** Creates what reads the reply. The request is on its way, so the provider answers while code is loaded. */
  async #createReader(): Promise<Omit<OpenReply<Frame>, "body">> {
    const [parser, replyReader] = await Promise.all([
      this.#provider.createParser(),
      this.#provider.createReplyReader(this.#call),
    ]);
    return { parser, replyReader };
  }

  async #prepare(call: ProviderCall, key: string | undefined): Promise<OutgoingRequest> {
    const outgoing = await this.#provider.prepare(call, key);
    this.#addSecrets(outgoing.secrets ?? []);
    return outgoing;
  }

  /** Sends a request again without content of the history that the provider rejected; rejects with other errors. */
  async #postWithoutRejected(
    error: unknown,
    connection: AbortController,
  ): Promise<Pick<OpenReply<Frame>, "body" | "onAccepted">> {
    const sent = this.#sent;
    if (!AgentError.is(error) || !sent) throw error;
    const { ContentReducer, RejectedContent } = await importRejectedContent(error);
    const { call, key } = sent;
    const reducer = sent.reducer ??= new ContentReducer(call.request);
    // The first request has reported everything else.
    const writer = new BlockWriter(() => {});
    const prepare = (request: StreamRequest) => this.#prepare({ ...call, request, writer }, key);
    const createBody = async (request: StreamRequest) => (await prepare(request)).body;
    const onAccepted = (): void => {
      for (const { code, message } of reducer.warnings) call.writer.warning(code, message);
      this.#history.rejected ??= new RejectedContent();
      this.#history.rejected.remember(call.request.model, reducer.omitted);
    };
    let problem: unknown = error;
    while (true) {
      const request = await reducer.reduce(problem, createBody);
      if (!request) throw problem;
      try {
        return { body: await this.#post(await prepare(request), connection), onAccepted };
      } catch (other) {
        problem = other;
      }
    }
  }

  async #post(
    { fallback, ...outgoing }: OutgoingRequest,
    connection: AbortController,
  ): Promise<ReadableStream<Uint8Array> | null> {
    const { settings, errors, connectHint } = this.#provider;
    const { provider } = this.#call.origin;
    const { query } = settings;
    const url = appendQuery(outgoing.url, query);
    const request = { ...outgoing, provider, errors, connectHint, url, secrets: this.secrets };
    try {
      return await post(request, settings, connection);
    } catch (error) {
      if (!fallback || !isMissingPath(error)) throw error;
      const other = { ...request, url: appendQuery(fallback.url, query) };
      const body = await post(other, settings, connection)
        .catch((failure) => Promise.reject(isMissingPath(failure) ? error : failure));
      fallback.onUsed();
      return body;
    }
  }
}

/** Loads the code that finds what a provider rejects; where that fails, as without a network, the error is `rejection`. */
async function importRejectedContent(
  rejection: AgentError,
): Promise<typeof import("./request/rejected_content.ts")> {
  try {
    return await import("./request/rejected_content.ts");
  } catch {
    throw rejection;
  }
}

/** Appends a query to a URL that may have one. */
export function appendQuery(url: string, query: string | undefined): string {
  return query ? `${url}${url.includes("?") ? "&" : "?"}${query}` : url;
}

/** Whether a server answered that it has no API at the URL: with a status, or with an error or a page instead of a stream. */
function isMissingPath(error: unknown): boolean {
  if (!AgentError.is(error)) return false;
  return error.status === 404 || error.status === 405 || error.code === "stream_error";
}
