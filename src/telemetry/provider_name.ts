/**
 * Names of providers in the conventions of OpenTelemetry.
 *
 * @module
 */

const NAMES: Readonly<Record<string, string>> = {
  azure: "azure.ai.openai",
  bedrock: "aws.bedrock",
  gemini: "gcp.gemini",
  google: "gcp.gemini",
  mistral: "mistral_ai",
  moonshot: "moonshot_ai",
  vertex: "gcp.vertex_ai",
  xai: "x_ai",
};

/** Returns the value of `gen_ai.provider.name`; other names, such as `anthropic`, are the same in both. */
export function getProviderName(provider: string): string {
  return Object.hasOwn(NAMES, provider) ? NAMES[provider] ?? provider : provider;
}
