/**
 * Parts of requests that a provider rejects, so that every further request would fail: images, documents and audio that
 * are damaged, too large, too many or not accepted, the thinking, signatures and provider items of replies of another
 * account or gateway, and the summaries of thinking that OpenAI has only for verified accounts. Loaded when a request
 * fails.
 *
 * @module
 */

import { AgentError } from "../../../src/core/errors/errors.ts";
import type { ModelSpec } from "../../../src/core/models/model.ts";
import type { StreamRequest } from "../../../src/core/streams/stream.ts";
import { findSuspects } from "./find_suspects.ts";
import { findNamedPart } from "./named_part.ts";
import { omitParts } from "./omit_parts.ts";
import {
  ALL_IMAGES,
  MEDIA_CODES,
  type RejectedPart,
  type Suspects,
  type Warning,
} from "./rejected_part.ts";
import { listImages } from "./request_media.ts";
import type { WarningSink } from "./warnings.ts";

/** Number of parts after which a request is not sent again only for each further one that an error names. */
const MAX_NAMED = 3;

/** The content that a provider is known to reject, by model: another one may accept more or larger images. */
export class RejectedContent {
  readonly #byModel = new Map<string, WeakSet<RejectedPart>>();

  /** Returns a request without the rejected content. Warns once about each image for a model that accepts none. */
  adapt(request: StreamRequest, sink: WarningSink): StreamRequest {
    const rejected = this.#byModel.get(request.model.modelId);
    if (!rejected) return request;
    const images = listImages(request).filter((image) => !rejected.has(image));
    if (rejected.has(ALL_IMAGES) && images.length > 0) {
      const message = `The model does not accept images: ${images.length} omitted`;
      sink.warning(MEDIA_CODES.image, message);
      this.remember(request.model, images);
    }
    return omitParts(request, (part) => rejected.has(part));
  }

  /** Remembers parts of a request, so that later requests are adapted at once. */
  remember({ modelId }: ModelSpec, parts: readonly RejectedPart[]): void {
    const rejected = this.#byModel.get(modelId) ?? new WeakSet();
    this.#byModel.set(modelId, rejected);
    for (const part of parts) rejected.add(part);
  }
}

/** Leaves out what a provider rejects in a request, one suspicion after the other. */
export class ContentReducer {
  readonly #request: StreamRequest;
  /** The request without what is left out so far. */
  #reduced: StreamRequest;
  readonly #omissions = new Map<Suspects["reason"], Omission>();

  constructor(request: StreamRequest) {
    this.#request = request;
    this.#reduced = request;
  }

  /** The warnings about what is left out. */
  get warnings(): readonly Warning[] {
    return Array.from(this.#omissions.values(), ({ warning }) => warning);
  }

  /** The parts that are left out. */
  get omitted(): readonly RejectedPart[] {
    return [...this.#omissions.values()].flatMap(({ parts }) => parts);
  }

  /**
   * Returns the request without what an error may be about; `undefined` if nothing of it is left. An error may contain the path
   * of a part in the body, which is created again.
   */
  async reduce(
    error: unknown,
    createBody: (request: StreamRequest) => Promise<string>,
  ): Promise<StreamRequest | undefined> {
    if (!AgentError.is(error)) return undefined;
    const part = await findNamedPart(error.message, () => createBody(this.#reduced));
    const suspects = findSuspects(error, this.#request, part);
    const omission = suspects && omitNext(suspects, this.#omissions.get(suspects.reason));
    if (!omission) return undefined;
    this.#omissions.set(suspects.reason, omission);
    const omitted = new Set(this.omitted);
    this.#reduced = omitParts(this.#request, (part) => omitted.has(part));
    return this.#reduced;
  }
}

/** Parts that are left out for one reason. */
interface Omission {
  /** The parts. */
  readonly parts: readonly RejectedPart[];
  /** The warning about them. */
  readonly warning: Warning;
  /** The parts that errors have named. */
  readonly named: readonly RejectedPart[];
  /** Number of the candidates that have been left out. */
  readonly attempts: number;
}

/**
 * Returns what is left out after an error: all parts that errors have named; or, after some such errors and after one that
 * names nothing new, the next candidate, with the named parts if the error has named some. `undefined` if no candidate is left.
 */
function omitNext(
  { named = [], candidates, toWarning }: Suspects,
  previous: Omission | undefined,
): Omission | undefined {
  const { named: known = [], attempts = 0 } = previous ?? {};
  const all = [...new Set([...known, ...named])];
  if (all.length > known.length && known.length < MAX_NAMED) {
    return { parts: all, warning: toWarning(all), named: all, attempts };
  }
  const candidate = candidates.filter(({ length }) => length > 0)[attempts];
  if (!candidate) return undefined;
  const parts = [...new Set([...named.length > 0 ? all : [], ...candidate])];
  return { parts, warning: toWarning(parts), named: all, attempts: attempts + 1 };
}
