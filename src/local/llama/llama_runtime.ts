/**
 * llama.cpp in this process, through the npm package `node-llama-cpp`.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import { isDeno, system } from "../../platform/system.ts";
import { loadWithoutSignals } from "./signal_listeners.ts";

/** A token of a vocabulary. */
export type Token = number;

/** The npm package `node-llama-cpp`, version 3.21 or later: `await import("node-llama-cpp")`. */
export interface LlamaModule {
  /** Loads llama.cpp. */
  readonly getLlama: unknown;
  /** Class of the states of grammars. */
  readonly LlamaGrammarEvaluationState: unknown;
}

/** The used part of the package. */
export interface LlamaPackage {
  /** Loads llama.cpp. */
  getLlama(options: object): Promise<LlamaInstance>;
  /** Creates the state of a grammar. */
  readonly LlamaGrammarEvaluationState: new (
    options: { readonly model: LlamaModel; readonly grammar: LlamaGrammar },
  ) => LlamaGrammarState;
}

/** The used part of a loaded llama.cpp. */
export interface LlamaInstance {
  /** Kind of graphics processor in use; `false` for none. */
  readonly gpu: string | false;
  /** Number of processor cores for computing. */
  readonly cpuMathCores: number;
  /** Loads a model. */
  loadModel(options: object): Promise<LlamaModel>;
  /** Parses a grammar in GBNF. */
  createGrammar(options: { readonly grammar: string }): Promise<LlamaGrammar>;
  /** Returns the state of the memory, in bytes. */
  getRamState(): Promise<{ readonly free: number }>;
  /** Returns the state of the memory of the graphics processor, in bytes. */
  getVramState(): Promise<{ readonly free: number; readonly unifiedSize: number }>;
  /** Releases everything that was created with it. */
  dispose(): Promise<void>;
}

/** A parsed grammar. */
export type LlamaGrammar = object;
/** The position in a grammar. */
export type LlamaGrammarState = object;

/** The used part of a loaded model. */
export interface LlamaModel {
  /** Special tokens. */
  readonly tokens: {
    readonly bosString: string | null;
    readonly eosString: string | null;
    readonly bos: Token | null;
    readonly shouldPrependBosToken: boolean;
  };
  /** Size of an embedding. */
  readonly embeddingVectorSize: number;
  /** Splits a text into tokens; with `specialTokens`, texts of special tokens become these tokens. */
  tokenize(text: string, specialTokens?: boolean, options?: "trimLeadingSpace"): Token[];
  /** Joins tokens to a text. */
  detokenize(
    tokens: readonly Token[],
    specialTokens?: boolean,
    lastTokens?: readonly Token[],
  ): string;
  /** Whether a token has a meaning instead of a text. */
  isSpecialToken(token: Token | undefined): boolean;
  /** Whether a token ends the reply. */
  isEogToken(token: Token | undefined): boolean;
  /** Creates a context. */
  createContext(options: object): Promise<LlamaContext>;
  /** Creates a context for embeddings. */
  createEmbeddingContext(options: object): Promise<LlamaEmbeddingContext>;
  /** Releases the model. */
  dispose(): Promise<void>;
}

/** The used part of a context. */
export interface LlamaContext {
  /** Number of tokens of each sequence. */
  readonly contextSize: number;
  /** Number of tokens that are evaluated at once. */
  readonly batchSize: number;
  /** Takes one of the sequences. */
  getSequence(options?: {
    /** Largest number of states that are kept, and whether they are kept at intervals. */
    readonly checkpoints: { readonly max: number; readonly interval: number | false };
  }): LlamaSequence;
}

/** The used part of a sequence of tokens with its cache. */
export interface LlamaSequence {
  /** The evaluated tokens. */
  readonly contextTokens: Token[];
  /** Number of the evaluated tokens. */
  readonly nextTokenIndex: number;
  /**
   * Whether tokens at the end can be removed only as far as a state was kept; so it is for layers that see only the last
   * tokens.
   */
  readonly needsCheckpoints?: boolean;
  /** Keeps the current state, if that is needed. */
  takeCheckpoint?(): Promise<void>;
  /** Index of the first token whose state is in the cache; tokens after it can be removed. */
  readonly stateCellsStartIndex?: number;
  /** Removes tokens from the end or the middle. */
  eraseContextTokenRanges(
    ranges: { readonly start: number; readonly end: number }[],
  ): Promise<void>;
  /** Evaluates tokens, and then generates one with each step. `evaluate()` does the same in another generator around it. */
  evaluateWithMetadata(
    tokens: Token[],
    metadata: object,
    options: object,
  ): AsyncGenerator<{ readonly token: Token }, void, unknown>;
  /** Evaluates tokens. */
  evaluateWithoutGeneratingNewTokens(tokens: Token[]): Promise<void>;
}

/** The used part of a context for embeddings. */
export interface LlamaEmbeddingContext {
  /** Returns the embedding of tokens. */
  getEmbeddingFor(input: Token[]): Promise<{ readonly vector: readonly number[] }>;
}

/** Graphics processor to use: `auto` takes one for which a prebuilt binary exists, `false` none. */
export type LlamaGpu = "auto" | "cuda" | "vulkan" | "metal" | false;

/** The values of `LlamaGpu`. */
export const LLAMA_GPUS: readonly LlamaGpu[] = ["auto", "cuda", "vulkan", "metal", false];

/**
 * The npm package `node-llama-cpp` and its version. Deno cannot install 3.22.1, since one of its optional packages
 * (`@node-llama-cpp/linux-riscv64`) is not published in that version.
 */
export const LLAMA_PACKAGE = { name: "node-llama-cpp", version: "3.21.1" } as const;

let pendingPackage: Promise<LlamaPackage> | undefined;

/**
 * Loads the package: the installed one, else from npm where the runtime can.
 *
 * @throws {BadRequestError} When it is not installed and cannot be downloaded.
 */
export async function loadLlamaPackage(): Promise<LlamaPackage> {
  pendingPackage ??= loadWithoutSignals(importPackage);
  try {
    return await pendingPackage;
  } catch (cause) {
    pendingPackage = undefined;
    const { name, version } = LLAMA_PACKAGE;
    const advice = isDeno && system.build.standalone
      ? "which an executable does not contain; run the program with Deno instead"
      : `which is not installed. Install it with: npm install ${name}@${version}`;
    const message = `Models on this device need the npm package ${name}, ${advice}`;
    throw new BadRequestError(`${message}: ${getErrorMessage(cause)}`, { cause });
  }
}

/** The specifiers are not literals, because Deno and bundlers would download the package with every program. */
async function importPackage(): Promise<LlamaPackage> {
  const { name, version } = LLAMA_PACKAGE;
  const installed: string = name;
  try {
    return await import(/* webpackIgnore: true */ installed);
  } catch (error) {
    // Other runtimes and the npm package have no such specifiers; a second error would hide the first one.
    if (!isDeno || import.meta.url.includes("/node_modules/")) throw error;
    const specifier = `npm:${name}@${version}`;
    return await import(/* webpackIgnore: true */ specifier);
  }
}

/** A loaded llama.cpp and its package. */
export interface LlamaRuntime {
  readonly package: LlamaPackage;
  readonly llama: LlamaInstance;
  /** Returns why the latest load has failed, and forgets it; `undefined` if llama.cpp has not logged it. */
  takeLoadError(): string | undefined;
}

/** The reason of a failed load in the log. */
const LOAD_ERROR = /error loading model: (.+)/;

const runtimes = new WeakMap<LlamaPackage, Map<LlamaGpu, Promise<LlamaRuntime>>>();

/**
 * Loads llama.cpp once per package and kind of graphics processor.
 *
 * @throws {BadRequestError} When no prebuilt binary works on this machine.
 */
export async function loadLlamaRuntime(
  llamaPackage: LlamaPackage,
  gpu: LlamaGpu,
): Promise<LlamaRuntime> {
  const loaded = runtimes.get(llamaPackage) ?? new Map<LlamaGpu, Promise<LlamaRuntime>>();
  runtimes.set(llamaPackage, loaded);
  const pending = loaded.get(gpu) ?? createRuntime(llamaPackage, gpu);
  loaded.set(gpu, pending);
  try {
    return await pending;
  } catch (cause) {
    loaded.delete(gpu);
    const kind = gpu === "auto" || !gpu ? "" : ` with gpu "${gpu}"; "auto" selects one that works`;
    const hint = isDeno ? "; Deno needs --allow-ffi for it" : "";
    const message = `llama.cpp has no prebuilt binary that works here${kind}${hint}`;
    throw new BadRequestError(`${message}: ${getErrorMessage(cause)}`, { cause });
  }
}

async function createRuntime(llamaPackage: LlamaPackage, gpu: LlamaGpu): Promise<LlamaRuntime> {
  let loadError: string | undefined;
  const llama = await llamaPackage.getLlama({
    gpu,
    // Never compiles, and never writes to the terminal.
    build: "never",
    progressLogs: false,
    logLevel: "error",
    logger: (_level: unknown, message: unknown) => {
      loadError = LOAD_ERROR.exec(String(message))?.[1] ?? loadError;
    },
  });
  const takeLoadError = () => {
    const error = loadError;
    loadError = undefined;
    return error;
  };
  return { package: llamaPackage, llama, takeLoadError };
}
