/**
 * The providers that {@linkcode connect} knows: one line each.
 *
 * @module
 */

import { BadRequestError } from "../src/core/errors.ts";
import type { StreamFn } from "../src/core/stream.ts";
import type { BedrockOptions } from "./bedrock/mod.ts";
import type { AzureOptions } from "./azure/mod.ts";
import type { ReadEnvironment } from "./kit/options/environment.ts";
import type { AdapterOptions } from "./kit/options/adapter_options.ts";

/** Options of a provider: those of all adapters, and its own. */
export type ProviderOptions = AdapterOptions & { readonly [option: string]: unknown };

/** How a provider is connected. */
export interface ProviderEntry {
  /** Environment variables that may hold its key, in order; none for a server that needs no key. */
  readonly keys: readonly string[];
  /** The environment variable that may hold its address. */
  readonly url?: string;
  /** Loads its adapter, the first time that it is asked; `env` is for whatever else the provider reads. */
  readonly load: (options: ProviderOptions, env: ReadEnvironment) => Promise<StreamFn>;
}

/** The providers by name. */
export const PROVIDERS: Readonly<Record<string, ProviderEntry>> = {
  anthropic: {
    keys: ["ANTHROPIC_API_KEY"],
    url: "ANTHROPIC_BASE_URL",
    load: async (options) => (await import("./anthropic/mod.ts")).createAnthropic(options),
  },
  bedrock: {
    keys: ["AWS_BEARER_TOKEN_BEDROCK"],
    url: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
    load: loadBedrock,
  },
  openai: { keys: ["OPENAI_API_KEY"], url: "OPENAI_BASE_URL", load: loadOpenAI },
  azure: {
    keys: ["AZURE_OPENAI_API_KEY", "AZURE_API_KEY"],
    url: "AZURE_OPENAI_ENDPOINT",
    load: loadAzure,
  },
  google: gemini(),
  gemini: gemini(),
  mistral: {
    keys: ["MISTRAL_API_KEY"],
    url: "MISTRAL_BASE_URL",
    load: async (options) => (await import("./mistral/mod.ts")).createMistral(options),
  },
  ollama: {
    keys: ["OLLAMA_API_KEY"],
    url: "OLLAMA_HOST",
    load: async (options) => (await import("./ollama/mod.ts")).createOllama(options),
  },
  proxy: { keys: ["SWINK_PROXY_TOKEN"], url: "SWINK_PROXY_URL", load: loadProxy },
  xai: {
    keys: ["XAI_API_KEY"],
    url: "XAI_BASE_URL",
    load: async (options) => (await import("./xai/mod.ts")).createXai(options),
  },

  // Servers that speak chat completions.
  cerebras: compatible("CEREBRAS_API_KEY", "https://api.cerebras.ai/v1"),
  deepseek: compatible("DEEPSEEK_API_KEY", "https://api.deepseek.com/v1"),
  fireworks: compatible("FIREWORKS_API_KEY", "https://api.fireworks.ai/inference/v1"),
  groq: compatible("GROQ_API_KEY", "https://api.groq.com/openai/v1"),
  huggingface: compatible("HF_TOKEN", "https://router.huggingface.co/v1"),
  moonshot: compatible("MOONSHOT_API_KEY", "https://api.moonshot.ai/v1"),
  openrouter: compatible("OPENROUTER_API_KEY", "https://openrouter.ai/api/v1"),
  together: compatible("TOGETHER_API_KEY", "https://api.together.xyz/v1"),
  vercel: compatible("AI_GATEWAY_API_KEY", "https://ai-gateway.vercel.sh/v1"),
  zai: compatible("ZAI_API_KEY", "https://api.z.ai/api/paas/v4"),

  // Servers on one's own machine.
  llamacpp: keyless("LLAMACPP_BASE_URL", "http://localhost:8080/v1"),
  lmstudio: keyless("LMSTUDIO_BASE_URL", "http://localhost:1234/v1"),
  vllm: keyless("VLLM_BASE_URL", "http://localhost:8000/v1"),
};

async function loadOpenAI(options: AdapterOptions): Promise<StreamFn> {
  return (await import("./openai/mod.ts")).createOpenAI(options);
}

async function loadProxy({ baseUrl, ...options }: AdapterOptions): Promise<StreamFn> {
  if (!baseUrl) {
    const how =
      "set SWINK_PROXY_URL in the environment, or give connect() providers: { proxy: { baseUrl } }";
    throw new BadRequestError(`Where is the proxy? Please ${how}`, { provider: "proxy" });
  }
  return (await import("./proxy/mod.ts")).createProxy({ ...options, baseUrl });
}

async function loadBedrock(options: BedrockOptions, env: ReadEnvironment): Promise<StreamFn> {
  const { withEnvironment } = await import("./bedrock/environment.ts");
  const { createBedrock } = await import("./bedrock/mod.ts");
  return createBedrock(withEnvironment(options, env));
}

async function loadAzure(options: AzureOptions, env: ReadEnvironment): Promise<StreamFn> {
  const { createAzure } = await import("./azure/mod.ts");
  const apiVersion = env("AZURE_OPENAI_API_VERSION") || env("OPENAI_API_VERSION") || undefined;
  return createAzure({ apiVersion, ...options });
}

/** Google's models go by the name of the maker, and by their own. */
function gemini(): ProviderEntry {
  return {
    keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    url: "GEMINI_BASE_URL",
    load: async (options) => (await import("./google/mod.ts")).createGemini(options),
  };
}

/** A server that the caller names, with its address. */
export const OWN_SERVER: ProviderEntry = { keys: [], load: loadOpenAI };

function compatible(key: string, baseUrl: string): ProviderEntry {
  return {
    keys: [key],
    load: (options) => loadOpenAI({ ...options, baseUrl: options.baseUrl ?? baseUrl }),
  };
}

function keyless(url: string, baseUrl: string): ProviderEntry {
  return {
    keys: [],
    url,
    load: async (options) => {
      const { createOpenAI } = await import("./openai/mod.ts");
      return createOpenAI({ ...options, baseUrl: options.baseUrl ?? baseUrl, keyless: true });
    },
  };
}
