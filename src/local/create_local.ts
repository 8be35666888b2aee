/**
 * The stream function of models on this device.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../core/errors/errors.ts";
import { failedStream } from "../core/streams/lazy_stream_fn.ts";
import type { StreamFn } from "../core/streams/stream.ts";
import { LocalModel, useModel } from "./local_model.ts";
import { checkModelOptions, type LocalModelOptions } from "./local_model_options.ts";
import { streamLocalCall, type TextModelSource } from "./reply/local_call.ts";

/** Options for {@linkcode createLocal}. */
export interface LocalOptions extends Omit<LocalModelOptions, "model"> {
  /** The model of all requests. Default: the one that a request names, as in `local/qwen3-4b`. */
  readonly model?: LocalModelOptions["model"] | undefined;
}

/** A stream function of models on this device. */
export interface LocalStreamFn extends StreamFn, AsyncDisposable {
  /** Unloads the models that no request uses, also a `LocalModel` that was given. */
  unload(): Promise<void>;
}

/**
 * Creates a stream function that runs a model in this process, with llama.cpp.
 *
 * The model is downloaded and loaded for the first request; a request for another model unloads it, once no request
 * uses it. Replies cost nothing. Options of a request that a model on this device does not have are reported as warnings.
 *
 * @example
 * ```ts ignore
 * import { Agent } from "@swink/agent";
 * import { createLocal } from "@swink/agent/local";
 *
 * const streamFn = createLocal({ model: "qwen3-4b" });
 * const agent = new Agent({ model: "local/qwen3-4b", streamFn });
 * ```
 *
 * @throws {BadRequestError} If an option is invalid.
 */
export function createLocal(options: LocalOptions | LocalModel = {}): LocalStreamFn {
  // A request may name the model.
  if (!(options instanceof LocalModel)) {
    checkModelOptions({ ...options, model: options.model ?? "?" });
  }
  const models = new LocalModels(options);
  const call: StreamFn = (request) => {
    const { provider, modelId } = request.model;
    try {
      return streamLocalCall(request, models.open(modelId));
    } catch (cause) {
      const message = `Cannot run ${provider}/${modelId}: ${getErrorMessage(cause)}`;
      return failedStream(new BadRequestError(message, { cause }));
    }
  };
  const unload = () => models.unload();
  return Object.assign(call, {
    hasStrictSchema: () => true,
    prices: () => ({ input: 0, output: 0 }),
    contextWindow: ({ modelId }: { readonly modelId: string }) => models.getContextSize(modelId),
    unload,
    [Symbol.asyncDispose]: unload,
  });
}

/** The models of a stream function. Those that no request uses are unloaded for another one. */
class LocalModels {
  readonly #options: LocalOptions | LocalModel;
  readonly #models = new Map<string, LocalModel>();
  /** The model that was requested last. */
  #latest: LocalModel | undefined;

  constructor(options: LocalOptions | LocalModel) {
    this.#options = options;
  }

  /** Returns the model of a request, and unloads the others when it is loaded. */
  open(name: string): TextModelSource {
    const model = this.#find(name);
    return {
      use: async (signal, use) => {
        this.#latest = model;
        await this.#unloadOthers(model);
        try {
          return await useModel(model, signal, ({ text }) => {
            if (text) return use(text);
            throw new BadRequestError(`The model ${name} was loaded for embeddings`);
          });
        } finally {
          if (this.#latest !== model) await model.unload();
        }
      },
    };
  }

  /** Returns the size of the context of a model, if it is known. */
  getContextSize(name: string): number | undefined {
    const { contextSize } = this.#find(name);
    if (contextSize !== undefined || this.#options instanceof LocalModel) return contextSize;
    return this.#options.contextSize;
  }

  async unload(): Promise<void> {
    const given = this.#options instanceof LocalModel ? [this.#options] : [];
    await Promise.all([...given, ...this.#models.values()].map((model) => model.unload()));
  }

  #find(name: string): LocalModel {
    if (this.#options instanceof LocalModel) return this.#options;
    const { model: fixed } = this.#options;
    const key = fixed === undefined ? name : "";
    const known = this.#models.get(key);
    if (known) return known;
    const created = new LocalModel({ ...this.#options, model: fixed ?? name });
    this.#models.set(key, created);
    return created;
  }

  async #unloadOthers(used: LocalModel): Promise<void> {
    for (const model of this.#models.values()) if (model !== used) await model.unload();
  }
}
