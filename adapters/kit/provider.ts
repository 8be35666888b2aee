/**
 * What most adapters have in common: a key, one JSON request, one streamed response.
 *
 * @module
 */

import type { BlockWriter } from "../../src/core/block_writer.ts";
import type { StreamFn, StreamRequest } from "../../src/core/stream.ts";
import type { ErrorOrigin } from "./errors/classify.ts";
import type { ErrorTable } from "./errors/error_table.ts";
import { type FrameParser, type ReplyReader, toEventStream } from "./stream/event_stream.ts";
import { LimitReservation } from "./limits/limit_reservation.ts";
import {
  type AdapterSettings,
  type ApiKey,
  findApiKey,
  hasKeyHeader,
  requireApiKey,
} from "./options/adapter_options.ts";
import { post } from "./http/post.ts";
import { withStrictSchema } from "./request/strict_schema.ts";

/** A request, ready to be sent. */
export interface OutgoingRequest {
  /** Where it goes. */
  readonly url: string;
  /** Headers, the key's among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body. */
  readonly body: string;
  /** Texts that must not show up in a message, besides the key. */
  readonly secrets?: readonly string[] | undefined;
}

/** One call, as its provider's code sees it. */
export interface ProviderCall {
  /** What is asked. */
  readonly request: StreamRequest;
  /** Writes the reply, and warnings about the request. */
  readonly writer: BlockWriter;
  /** Whose errors these are. */
  readonly origin: ErrorOrigin;
}

/** What a provider does in its own way. */
export interface Provider<Frame> {
  /** Who is asked, where that is not the model's provider itself. */
  readonly name?: string | undefined;
  /** The adapter's settings. */
  readonly settings: AdapterSettings;
  /** The adapter's key. */
  readonly apiKey?: ApiKey | undefined;
  /** Whether it answers without a key. Default: `false`. */
  readonly keyless?: boolean | undefined;
  /** Its own error codes. */
  readonly errors?: ErrorTable | undefined;
  /** Writes the request. What it throws ends the reply. */
  prepare(
    call: ProviderCall,
    key: string | undefined,
  ): OutgoingRequest | Promise<OutgoingRequest>;
  /** Makes what cuts a response into frames. */
  createParser(): FrameParser<Frame>;
  /** Makes what reads the frames. */
  createReplyReader(call: ProviderCall): ReplyReader<Frame>;
}

/** Makes the stream function of a provider. */
export function createStreamFn<Frame>(provider: Provider<Frame>): StreamFn {
  const streamFn: StreamFn = (request) => {
    const share = new LimitReservation(provider.settings.limiter);
    return toEventStream({
      request,
      settings: provider.settings,
      onEnd: (usage) => share.settle(usage),
      createExchange(writer) {
        // The reply is made before the key is known; both share the list of what must not be told.
        const secrets: string[] = [];
        const call = { request, writer, origin: createOrigin(provider, request, secrets) };
        return {
          parser: provider.createParser(),
          replyReader: provider.createReplyReader(call),
          open: (connection) =>
            openResponse(provider, { call, secrets, reservation: share, connection }),
        };
      },
    });
  };
  return withStrictSchema(streamFn, provider.settings.catalog);
}

interface OpenOptions {
  readonly call: ProviderCall;
  readonly secrets: string[];
  readonly reservation: LimitReservation;
  readonly connection: AbortController;
}

async function openResponse<Frame>(
  provider: Provider<Frame>,
  { call, secrets, reservation: share, connection }: OpenOptions,
): Promise<ReadableStream<Uint8Array> | null> {
  const { settings, errors } = provider;
  const key = await resolveKey(provider, call.request);
  if (key) secrets.push(key);
  const outgoing = await provider.prepare(call, key);
  secrets.push(...outgoing.secrets ?? []);
  const name = call.origin.provider;
  await share.reserve(call.request.context, connection.signal);
  try {
    return await post({ ...outgoing, provider: name, secrets, errors }, settings, connection);
  } catch (error) {
    share.release(error);
    throw error;
  }
}

async function resolveKey<Frame>(
  { apiKey, keyless, settings }: Provider<Frame>,
  request: StreamRequest,
): Promise<string | undefined> {
  if (keyless || hasKeyHeader(settings)) return await findApiKey(request, apiKey);
  return await requireApiKey(request, { apiKey, keyHint: settings.keyHint });
}

function createOrigin<Frame>(
  { name, errors, settings }: Provider<Frame>,
  request: StreamRequest,
  secrets: readonly string[],
): ErrorOrigin {
  const provider = name ?? request.model.provider;
  return { provider, table: errors, secrets, now: settings.clock.now() };
}
