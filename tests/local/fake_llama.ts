/**
 * A llama.cpp of which the test decides when a model is loaded.
 *
 * @module
 */

import type { LlamaModule } from "../../src/local/mod.ts";

/** A load that the test finishes. */
export interface FakeLoad {
  /** Options that the model was loaded with. */
  readonly options: {
    readonly loadSignal: AbortSignal;
    readonly onLoadProgress: (progress: number) => void;
    readonly modelPath: string;
    readonly ignoreMemorySafetyChecks: boolean;
  };
  /** Finishes the load. */
  resolve(): void;
  /** Fails the load. */
  reject(reason: unknown): void;
}

/** The embedding of a text that the test finishes. */
export interface FakeEmbedding {
  resolve(): void;
}

/** A package without a model. */
export interface FakeLlama extends LlamaModule {
  readonly loads: FakeLoad[];
  /** Resolves with the next load. */
  nextLoad(): Promise<FakeLoad>;
  /** Embeddings of texts that have begun. */
  readonly embeddings: FakeEmbedding[];
  /** Number of models in memory. */
  loaded: number;
  /** Failure of releasing a model. */
  disposeError: Error | undefined;
  /** Writes a line to the log. */
  log(message: string): void;
}

/** Creates a package. */
export function createFakeLlama({ free = 1e12 }: { readonly free?: number } = {}): FakeLlama {
  const waiting: ((load: FakeLoad) => void)[] = [];
  const getEmbeddingFor = () => {
    const { promise, resolve } = Promise.withResolvers<{ readonly vector: readonly number[] }>();
    fake.embeddings.push({ resolve: () => resolve({ vector: [3, 4] }) });
    return promise;
  };
  const model = {
    tokens: { bosString: null, eosString: null, bos: null, shouldPrependBosToken: false },
    createContext: ({ contextSize }: { contextSize: number }) =>
      Promise.resolve({ contextSize, batchSize: 512, getSequence: () => ({}) }),
    embeddingVectorSize: 2,
    tokenize: (text: string) => [...text].map((_, index) => index),
    createEmbeddingContext: () => Promise.resolve({ getEmbeddingFor }),
    dispose: () => {
      fake.loaded--;
      return fake.disposeError ? Promise.reject(fake.disposeError) : Promise.resolve();
    },
  };
  const loadModel = (options: FakeLoad["options"]) => {
    const { promise, resolve, reject } = Promise.withResolvers<typeof model>();
    options.loadSignal.addEventListener("abort", () => reject(options.loadSignal.reason));
    const load = {
      options,
      resolve: () => {
        fake.loaded++;
        resolve(model);
      },
      reject,
    };
    fake.loads.push(load);
    waiting.shift()?.(load);
    return promise;
  };
  const instance = {
    gpu: false,
    cpuMathCores: 2,
    getRamState: () => Promise.resolve({ free }),
    loadModel,
  };
  const fake: FakeLlama = {
    loads: [],
    embeddings: [],
    loaded: 0,
    disposeError: undefined,
    nextLoad: () => new Promise((resolve) => waiting.push(resolve)),
    log: () => {},
    getLlama: ({ logger }: { readonly logger: (level: string, message: string) => void }) => {
      fake.log = (message) => logger("error", message);
      return Promise.resolve(instance);
    },
    LlamaGrammarEvaluationState: class {},
  };
  return fake;
}
