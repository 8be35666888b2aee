/**
 * Providers that `connect()` knows.
 *
 * @module
 */

import { BadRequestError } from "../src/core/errors/errors.ts";
import type { StreamFn } from "../src/core/streams/stream.ts";
import type { AzureOptions } from "./azure/azure_stream_fn.ts";
import type { BedrockOptions } from "./bedrock/bedrock_stream_fn.ts";
import type { AdapterOptions } from "./kit/options/adapter_options.ts";
import type { ReadEnvironment } from "./kit/options/environment.ts";

/** The options of all adapters, and further options of one provider. */
export type ProviderOptions = AdapterOptions & { readonly [option: string]: unknown };

/** A provider that `connect()` knows. */
export interface ProviderEntry {
  /** Environment variables that may hold the key, in order; empty for a server without keys. */
  readonly keyVariables: readonly string[];
  /** Environment variable that may hold the URL. */
  readonly urlVariable?: string;
  /** URL of the provider's public API, or of its server on the local machine. Default: there is no such URL. */
  readonly defaultUrl?: string;
  /** Loads the adapter on first use; `env` reads further variables of the provider. */
  readonly load: (options: ProviderOptions, env: ReadEnvironment) => Promise<StreamFn>;
}

/** Google's models, also under the name `gemini`. */
const GOOGLE: ProviderEntry = {
  keyVariables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  urlVariable: "GEMINI_BASE_URL",
  defaultUrl: "https://generativelanguage.googleapis.com/v1beta",
  load: async (options) =>
    (await import("./google/google_stream_fn.ts")).createGoogleStreamFn(options),
};

/** Providers by name. */
export const PROVIDERS: Readonly<Record<string, ProviderEntry>> = {
  anthropic: {
    keyVariables: ["ANTHROPIC_API_KEY"],
    urlVariable: "ANTHROPIC_BASE_URL",
    defaultUrl: "https://api.anthropic.com",
    load: async (options) =>
      (await import("./anthropic/anthropic_stream_fn.ts")).createAnthropicStreamFn(options),
  },
  bedrock: {
    keyVariables: ["AWS_BEARER_TOKEN_BEDROCK"],
    urlVariable: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
    load: loadBedrock,
  },
  openai: {
    keyVariables: ["OPENAI_API_KEY"],
    urlVariable: "OPENAI_BASE_URL",
    defaultUrl: "https://api.openai.com/v1",
    load: loadOpenAI,
  },
  azure: {
    keyVariables: ["AZURE_OPENAI_API_KEY", "AZURE_API_KEY"],
    urlVariable: "AZURE_OPENAI_ENDPOINT",
    load: loadAzure,
  },
  google: GOOGLE,
  gemini: GOOGLE,
  mistral: {
    keyVariables: ["MISTRAL_API_KEY"],
    urlVariable: "MISTRAL_BASE_URL",
    defaultUrl: "https://api.mistral.ai/v1",
    load: async (options) =>
      (await import("./mistral/mistral_stream_fn.ts")).createMistralStreamFn(options),
  },
  ollama: {
    keyVariables: ["OLLAMA_API_KEY"],
    urlVariable: "OLLAMA_HOST",
    defaultUrl: "http://localhost:11434",
    load: async (options) =>
      (await import("./ollama/ollama_stream_fn.ts")).createOllamaStreamFn(options),
  },
  proxy: { keyVariables: ["SWINK_PROXY_TOKEN"], urlVariable: "SWINK_PROXY_URL", load: loadProxy },
  xai: {
    keyVariables: ["XAI_API_KEY"],
    urlVariable: "XAI_BASE_URL",
    defaultUrl: "https://api.x.ai/v1",
    load: async (options) => (await import("./xai/xai_stream_fn.ts")).createXaiStreamFn(options),
  },

  // Servers with the chat completions API.
  cerebras: compatibleServer("CEREBRAS_API_KEY", "https://api.cerebras.ai/v1"),
  deepseek: compatibleServer("DEEPSEEK_API_KEY", "https://api.deepseek.com/v1"),
  fireworks: compatibleServer("FIREWORKS_API_KEY", "https://api.fireworks.ai/inference/v1"),
  groq: compatibleServer("GROQ_API_KEY", "https://api.groq.com/openai/v1"),
  huggingface: compatibleServer("HF_TOKEN", "https://router.huggingface.co/v1"),
  moonshot: compatibleServer("MOONSHOT_API_KEY", "https://api.moonshot.ai/v1"),
  openrouter: compatibleServer("OPENROUTER_API_KEY", "https://openrouter.ai/api/v1"),
  together: compatibleServer("TOGETHER_API_KEY", "https://api.together.xyz/v1"),
  vercel: compatibleServer("AI_GATEWAY_API_KEY", "https://ai-gateway.vercel.sh/v1"),
  zai: compatibleServer("ZAI_API_KEY", "https://api.z.ai/api/paas/v4"),

  // Servers on the local machine.
  llamacpp: localServer("LLAMACPP_BASE_URL", "http://localhost:8080/v1"),
  lmstudio: localServer("LMSTUDIO_BASE_URL", "http://localhost:1234/v1"),
  vllm: localServer("VLLM_BASE_URL", "http://localhost:8000/v1"),
};

async function loadOpenAI(options: AdapterOptions): Promise<StreamFn> {
  return (await import("./openai/openai_stream_fn.ts")).createOpenAIStreamFn(options);
}

async function loadProxy({ baseUrl, ...options }: AdapterOptions): Promise<StreamFn> {
  if (!baseUrl) {
    const message = "No URL for the proxy: set SWINK_PROXY_URL in the environment, " +
      "or pass providers: { proxy: { baseUrl } } to connect()";
    throw new BadRequestError(message, { provider: "proxy" });
  }
  return (await import("./proxy/proxy_stream_fn.ts")).createProxyStreamFn({ ...options, baseUrl });
}

async function loadBedrock(options: BedrockOptions, env: ReadEnvironment): Promise<StreamFn> {
  const { withEnvironment } = await import("./bedrock/environment.ts");
  const { createBedrockStreamFn } = await import("./bedrock/bedrock_stream_fn.ts");
  return createBedrockStreamFn(withEnvironment(options, env));
}

async function loadAzure(options: AzureOptions, env: ReadEnvironment): Promise<StreamFn> {
  const { createAzureStreamFn } = await import("./azure/azure_stream_fn.ts");
  const apiVersion = env("AZURE_OPENAI_API_VERSION") || env("OPENAI_API_VERSION") || undefined;
  return createAzureStreamFn({ apiVersion, ...options });
}

/** A server whose name and `baseUrl` are in `ConnectOptions.providers`. */
export const CUSTOM_SERVER: ProviderEntry = { keyVariables: [], load: loadOpenAI };

function compatibleServer(keyVariable: string, baseUrl: string): ProviderEntry {
  return {
    keyVariables: [keyVariable],
    defaultUrl: baseUrl,
    load: (options) => loadOpenAI({ ...options, baseUrl: options.baseUrl ?? baseUrl }),
  };
}

function localServer(urlVariable: string, baseUrl: string): ProviderEntry {
  return {
    keyVariables: [],
    urlVariable,
    defaultUrl: baseUrl,
    load: async (options) => {
      const { createOpenAIStreamFn } = await import("./openai/openai_stream_fn.ts");
      return createOpenAIStreamFn({
        ...options,
        baseUrl: options.baseUrl ?? baseUrl,
        keyless: true,
      });
    },
  };
}
