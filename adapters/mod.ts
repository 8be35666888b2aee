/**
 * Stream functions for model providers, and the catalog of their models.
 *
 * {@linkcode connect} selects the adapter by the provider of each request's model, and reads the usual environment
 * variables for keys and addresses. `createOpenAI()` and the other factories connect to one provider with explicit
 * options. The code of an adapter is loaded on its first request. Adapters need only `fetch`, so they run in Deno, Node,
 * Bun, browsers and workers; Amazon Bedrock also needs two npm packages, which are loaded on its first request.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { catalog, connect } from "@swink/agent/adapters";
 *
 * const agent = new Agent({ model: "anthropic/claude-sonnet-5-5", streamFn: connect() });
 * catalog[`${agent.state.model.provider}/${agent.state.model.modelId}`]?.contextWindow; // in tokens
 * ```
 *
 * @module
 */

export { type AnthropicOptions, createAnthropic } from "./anthropic/mod.ts";
export { type AccessToken, type AzureOptions, createAzure, type GetToken } from "./azure/mod.ts";
export {
  type AwsCredentials,
  type BedrockGuardrail,
  type BedrockOptions,
  createBedrock,
} from "./bedrock/mod.ts";
export {
  createGemini,
  createGoogle,
  type GeminiOptions,
  type GoogleOptions,
} from "./google/mod.ts";
export { createMistral, type MistralOptions } from "./mistral/mod.ts";
export { createOllama, type OllamaOptions } from "./ollama/mod.ts";
export { createOpenAI, type OpenAIApi, type OpenAIOptions } from "./openai/mod.ts";
export {
  type Authorize,
  createProxy,
  type ProxyConnection,
  type ProxyDoneEvent,
  type ProxyErrorEvent,
  type ProxyEvent,
  type ProxyHandler,
  type ProxyOptions,
  type ProxyRequest,
  serveProxy,
  type ServeProxyOptions,
} from "./proxy/mod.ts";
export { createXai, type XaiOptions } from "./xai/mod.ts";
export {
  type Catalog,
  catalog,
  type CatalogEntry,
  findModel,
  prices,
  pricesFromCatalog,
  type ThinkingAbility,
  type ThinkingEffort,
  type ThinkingOff,
} from "./catalog/catalog.ts";
export {
  connect,
  type ConnectOptions,
  keyVariables,
  providerNames,
  urlVariable,
} from "./connect.ts";
export type { ProviderOptions } from "./providers.ts";
export type { ReadEnvironment } from "./kit/options/environment.ts";
export { RateLimiter, type RateLimiterOptions } from "./kit/limits/rate_limiter.ts";
export type {
  AcquireOptions,
  AdapterOptions,
  ApiKey,
  RequestLimiter,
} from "./kit/options/adapter_options.ts";
export type { Clock, Sleep } from "../src/core/ports/ports.ts";
