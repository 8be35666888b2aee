/**
 * Counts the tokens that llama.cpp evaluates.
 *
 * @module
 */

import type {
  LlamaContext,
  LlamaInstance,
  LlamaModel,
  LlamaPackage,
  LlamaSequence,
} from "../../src/local/llama/llama_runtime.ts";

/** A package that keeps the tokens of the prompts it evaluates. */
export interface CountingLlama {
  readonly package: LlamaPackage;
  /** The tokens of prompts since the last call of `take()`. */
  take(): number[];
  /** Number of tokens that were generated. */
  generated: number;
  /** Numbers of loads and of models in memory. */
  loads: number;
  loaded: number;
}

let instance: Promise<LlamaInstance> | undefined;

/** Wraps the package. All wrappers share one instance of llama.cpp. */
export function countTokens(llama: LlamaPackage): CountingLlama {
  const evaluated: number[] = [];
  const counts: CountingLlama = {
    generated: 0,
    loads: 0,
    loaded: 0,
    take: () => evaluated.splice(0),
    package: {
      LlamaGrammarEvaluationState: llama.LlamaGrammarEvaluationState,
      getLlama: async (options) => wrapInstance(await (instance ??= llama.getLlama(options))),
    },
  };

  const wrapInstance = (target: LlamaInstance): LlamaInstance =>
    replace(target, {
      async loadModel(options: object) {
        counts.loads++;
        const model = await target.loadModel(options);
        counts.loaded++;
        return wrapModel(model);
      },
    });

  const wrapModel = (model: LlamaModel): LlamaModel =>
    replace(model, {
      createContext: async (options: object) => wrapContext(await model.createContext(options)),
      async dispose() {
        counts.loaded--;
        await model.dispose();
      },
    });

  const wrapContext = (context: LlamaContext): LlamaContext =>
    replace(context, {
      getSequence: (options) => wrapSequence(context.getSequence(options)),
    });

  const wrapSequence = (sequence: LlamaSequence): LlamaSequence => {
    // The package itself calls it to evaluate tokens again whose state it could not restore.
    const evaluate = sequence.evaluateWithoutGeneratingNewTokens.bind(sequence);
    sequence.evaluateWithoutGeneratingNewTokens = (tokens, ...options) => {
      evaluated.push(...tokens);
      return evaluate(tokens, ...options);
    };
    return replace(sequence, {
      async *evaluateWithMetadata(tokens: number[], metadata: object, options: object) {
        evaluated.push(...tokens);
        for await (const step of sequence.evaluateWithMetadata(tokens, metadata, options)) {
          counts.generated++;
          yield step;
        }
      },
    });
  };

  return counts;
}

/** Returns an object with other methods; the rest is that of the target, whose state is private. */
function replace<Target extends object>(target: Target, methods: Partial<Target>): Target {
  return new Proxy(target, {
    get(_, name) {
      if (Object.hasOwn(methods, name)) return Reflect.get(methods, name);
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
