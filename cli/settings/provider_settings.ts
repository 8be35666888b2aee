/**
 * Settings of a provider, in the table `[providers.NAME]` of the configuration.
 *
 * @module
 */

import type { OptionDefinitions } from "../command_line/definition.ts";

/** The settings of a provider. A project must not set them: they receive the key, or run a program. */
export const PROVIDER_SETTINGS = {
  baseUrl: {
    type: "string",
    description: "Base URL of the provider's API.",
    configuration: "user",
  },
  keyCommand: {
    type: "string",
    description: "Command whose output is the key; a shell runs it.",
    configuration: "user",
  },
} as const satisfies OptionDefinitions;
