/**
 * A model on this device: downloaded, loaded and unloaded on demand.
 *
 * @module
 */

import { AbortedError, AgentError, getErrorMessage, StreamError } from "../core/errors/errors.ts";
import { abortable } from "../core/ports/abortable.ts";
import { createDeferred } from "../core/ports/deferred.ts";
import { MAX_TIMER_MS } from "../core/ports/ports.ts";
import { isDeno, system } from "../platform/system.ts";
import { type LoadedModel, loadModel } from "./load_model.ts";
import {
  checkModelOptions,
  type LocalModelOptions,
  type ModelPurpose,
} from "./local_model_options.ts";
import type { LocalModelState } from "./model_state.ts";
import { type ModelPlace, ModelStore } from "./store/model_store.ts";

const IDLE_MS = 300_000;

/** A use of a loaded model. */
type ModelUse<Result> = (model: LoadedModel) => Promise<Result>;

/** A use that has not ended. */
interface ActiveUse {
  /** Aborted when the use is to end. */
  readonly signal: AbortSignal;
  readonly ended: Promise<void>;
}

type Use = <Result>(signal: AbortSignal, use: ModelUse<Result>) => Promise<Result>;

let access: (model: LocalModel) => Use;

/**
 * Calls a function with a loaded model, which stays loaded meanwhile. It is no method, since the loaded model is no part of
 * the API.
 *
 * @throws {AgentError} If the model cannot be loaded.
 */
export function useModel<Result>(
  model: LocalModel,
  signal: AbortSignal,
  use: ModelUse<Result>,
): Promise<Result> {
  return access(model)(signal, use);
}

/**
 * A model on this device.
 *
 * It is downloaded and loaded on first use. Callers share one load, which is cancelled when all of them have given up.
 *
 * @example
 * ```ts ignore
 * import { createLocal, LocalModel } from "@swink/agent/local";
 *
 * const model = new LocalModel({ model: "qwen3-4b", onState: ({ type }) => console.log(type) });
 * await model.load();
 * const streamFn = createLocal(model);
 * ```
 */
export class LocalModel implements AsyncDisposable {
  static {
    access = (model) => (signal, use) => model.#use(signal, use);
  }

  readonly #options: LocalModelOptions;
  readonly #purpose: ModelPurpose;
  readonly #store: ModelStore;
  #state: LocalModelState = { type: "unloaded" };
  #loaded: LoadedModel | undefined;
  /** Size of the latest context, so that a conversation can be compacted before the model is loaded again. */
  #contextSize: number | undefined;
  #load: PendingLoad | undefined;
  /** Settles when nothing of an earlier load is in memory or in progress. */
  #cleared: Promise<unknown> = Promise.resolve();
  readonly #uses = new Set<ActiveUse>();
  /** Whether the model is to be unloaded when its last use has ended. */
  #isUnloading = false;
  #idle: AbortController | undefined;

  /**
   * @param purpose Default: `"chat"`.
   * @throws {BadRequestError} If an option is invalid.
   */
  constructor(options: LocalModelOptions, purpose: ModelPurpose = "chat") {
    checkModelOptions(options);
    this.#options = options;
    this.#purpose = purpose;
    const { directory, fetch, env, connectTimeoutMs, idleTimeoutMs, sleep } = options;
    this.#store = new ModelStore({ directory, fetch, env, connectTimeoutMs, idleTimeoutMs, sleep });
  }

  /** The current state. */
  get state(): LocalModelState {
    return this.#state;
  }

  /** Number of tokens of the context, also after the model was unloaded; `undefined` before it was loaded. */
  get contextSize(): number | undefined {
    return this.#contextSize;
  }

  /**
   * Downloads and loads the model, if it is not loaded.
   *
   * @throws {AgentError} If that fails. `aborted` after an abort of the signal.
   */
  async load(signal: AbortSignal = new AbortController().signal): Promise<void> {
    await this.#use(signal, () => Promise.resolve());
  }

  async #use<Result>(signal: AbortSignal, use: ModelUse<Result>): Promise<Result> {
    const ended = createDeferred();
    const active = { signal, ended: ended.promise };
    this.#uses.add(active);
    this.#isUnloading = false;
    this.#idle?.abort();
    try {
      return await use(this.#loaded ?? await this.#join(signal));
    } finally {
      this.#uses.delete(active);
      if (this.#uses.size === 0) this.#endUse();
      ended.resolve();
    }
  }

  /**
   * Unloads the model; waits for requests that have ended or were aborted, since they use it until the token or text in
   * progress has ended. Other requests are not interrupted: the last one unloads it at its end, unless another one has begun
   * after this call.
   */
  async unload(): Promise<void> {
    if (this.#uses.size > 0) {
      this.#isUnloading = true;
      const uses = [...this.#uses];
      // A request that continues may wait for the caller to read its events.
      if (!uses.every(({ signal }) => signal.aborted)) return;
      await Promise.all(uses.map(({ ended }) => ended));
      await this.#cleared;
      return;
    }
    this.#idle?.abort();
    const loaded = this.#loaded;
    this.#loaded = undefined;
    if (loaded) {
      this.#setState({ type: "unloaded" });
      const disposed = loaded.dispose();
      // The next load waits for the memory, and does not fail if it cannot be released.
      this.#cleared = disposed.catch(() => {});
      return await disposed;
    }
    await this.#cleared;
  }

  /** Unloads the model, as `unload()` does. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.unload();
  }

  /** Waits for the load that is in progress, or starts one. */
  async #join(signal: AbortSignal): Promise<LoadedModel> {
    if (signal.aborted) throw toAborted(signal);
    const load = this.#load ??= this.#startLoad();
    load.waiting++;
    try {
      return await abortable(load.promise, signal);
    } catch (error) {
      throw signal.aborted ? toAborted(signal) : error;
    } finally {
      load.waiting--;
      // The load continues while another caller waits for it.
      if (load.waiting === 0 && this.#load === load) this.#cancelLoad(load, signal.reason);
    }
  }

  /** Cancels a load; the next caller starts another one, after this one has ended. */
  #cancelLoad({ controller, promise }: PendingLoad, reason: unknown): void {
    this.#load = undefined;
    this.#cleared = promise.catch(() => {});
    controller.abort(reason);
  }

  #startLoad(): PendingLoad {
    const controller = new AbortController();
    const promise = this.#run(controller.signal);
    promise.catch(() => {});
    return { promise, controller, waiting: 0 };
  }

  async #run(signal: AbortSignal): Promise<LoadedModel> {
    try {
      await this.#cleared;
      const place = await this.#findPlace();
      await this.#store.download(place, {
        signal,
        onProgress: (progress) => this.#setState({ type: "downloading", ...progress }),
      });
      this.#setState({ type: "loading", progress: 0 });
      const loaded = await loadModel(place, {
        ...this.#options,
        purpose: this.#purpose,
        signal,
        onProgress: (progress) => this.#setState({ type: "loading", progress }),
      });
      if (signal.aborted) {
        await loaded.dispose();
        throw toAborted(signal);
      }
      return this.#finishLoad(loaded);
    } catch (thrown) {
      const error = toError(thrown, signal);
      // After a cancelled load, the next one may have begun.
      if (!signal.aborted) this.#load = undefined;
      this.#setState(error.code === "aborted" ? { type: "unloaded" } : { type: "failed", error });
      throw error;
    }
  }

  #finishLoad(loaded: LoadedModel): LoadedModel {
    this.#loaded = loaded;
    this.#load = undefined;
    const { contextSize, memory } = loaded;
    this.#contextSize = contextSize;
    this.#setState({ type: "ready", contextSize, memory: memory.total });
    return loaded;
  }

  async #findPlace(): Promise<ModelPlace> {
    const { model } = this.#options;
    return typeof model === "string" ? await this.#store.find(model) : model;
  }

  #endUse(): void {
    if (!this.#isUnloading) return this.#startIdle();
    this.#isUnloading = false;
    // No caller can handle that the memory cannot be released.
    this.unload().catch(() => {});
  }

  #startIdle(): void {
    const { idleMs = IDLE_MS, sleep = sleepInBackground } = this.#options;
    if (!this.#loaded || idleMs === Infinity) return;
    const idle = this.#idle = new AbortController();
    void sleep(idleMs, idle.signal).then(() => {
      if (!idle.signal.aborted) return this.unload();
    }).catch(() => {});
  }

  #setState(state: LocalModelState): void {
    this.#state = state;
    // A listener that throws or rejects must fail neither the load nor the process.
    (async () => await this.#options.onState?.(state))().catch(() => {});
  }
}

interface PendingLoad {
  readonly promise: Promise<LoadedModel>;
  readonly controller: AbortController;
  /** Number of callers that wait for it. */
  waiting: number;
}

function toAborted(signal: AbortSignal): AbortedError {
  return new AbortedError("Loading the model was aborted", { cause: signal.reason });
}

function toError(thrown: unknown, signal: AbortSignal): AgentError {
  if (signal.aborted) return toAborted(signal);
  if (AgentError.is(thrown)) return thrown;
  return new StreamError(`Cannot load the model: ${getErrorMessage(thrown)}`, { cause: thrown });
}

/** Waits without keeping the process running. */
function sleepInBackground(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, Math.min(milliseconds, MAX_TIMER_MS));
    // In a browser, a timer is a number, and nothing ends the page.
    if (isDeno || typeof timer === "object") system.unrefTimer(timer);
    signal?.addEventListener("abort", finish);
  });
}
