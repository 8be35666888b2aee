/**
 * The programs to compare: agents for the command line, each with a headless turn against a local model.
 *
 * @module
 */

import { fromFileUrl, join } from "../../../src/platform/paths.ts";

/** Where a program is installed and run. */
export interface ProgramPlace {
  /** Directory with the installed packages, for programs from npm. */
  readonly packages: string;
  /** Home directory of the program; its working directory is `project` in it. */
  readonly home: string;
  /** Base URL of the model server. */
  readonly url: string;
}

/** A program to compare. */
export interface Program {
  readonly name: string;
  /** Package on npm, with its version. Default: none. */
  readonly npm?: string;
  /** Returns the program and the arguments that precede all others. */
  readonly command: (place: ProgramPlace) => readonly string[];
  /** Arguments for a prompt without a user. */
  readonly prompt: (place: ProgramPlace) => readonly string[];
  /** Environment, without `PATH` and `HOME`. */
  readonly env: (place: ProgramPlace) => Readonly<Record<string, string>>;
  /** Files of the home directory, by path. Default: none. */
  readonly files?: (place: ProgramPlace) => Readonly<Record<string, unknown>>;
}

const PROMPT = "Reply OK";

/** The program of this checkout, as it is published, with the permissions of `deno task swink`. */
export function createSwink(packageDirectory: URL): Program {
  return {
    name: "swink",
    command: () => [
      Deno.execPath(),
      ...[
        "run",
        "-A",
        "--no-lock",
        "--no-config",
        fromFileUrl(new URL("cli/main.ts", packageDirectory)),
      ],
    ],
    prompt: () => ["run", "--trust", PROMPT],
    env: ({ url }) => ({ ANTHROPIC_API_KEY: "none", ANTHROPIC_BASE_URL: url }),
  };
}

/** The programs from npm, with the versions that were measured last. */
export const OTHER_PROGRAMS: readonly Program[] = [
  {
    name: "codex exec",
    npm: "@openai/codex@0.171.0",
    command: ({ packages }) => [join(packages, ".bin/codex")],
    prompt: ({ url }) => [
      ...["exec", "--skip-git-repo-check", "-m", "gpt-5", "-c", "model_provider=mock", "-c"],
      `model_providers.mock={name="mock",base_url="${url}/v1",wire_api="responses",env_key="OPENAI_API_KEY"}`,
      PROMPT,
    ],
    env: () => ({ OPENAI_API_KEY: "none" }),
  },
  {
    name: "claude -p",
    npm: "@anthropic-ai/claude-code@2.1.332",
    command: ({ packages }) => [join(packages, "@anthropic-ai/claude-code-linux-x64/claude")],
    prompt: () => ["-p", PROMPT],
    env: ({ url }) => ({
      ANTHROPIC_API_KEY: "none",
      ANTHROPIC_BASE_URL: url,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    }),
  },
  {
    name: "pi -p",
    npm: "@earendil-works/pi-coding-agent@1.6.0",
    command: ({ packages }) => [join(packages, ".bin/pi")],
    prompt: () => ["-p", "--model", "anthropic/claude-sonnet-5-5", PROMPT],
    env: () => ({ ANTHROPIC_API_KEY: "none", PI_OFFLINE: "1" }),
    files: ({ url }) => ({
      ".pi/agent/models.json": { providers: { anthropic: { baseUrl: url } } },
    }),
  },
  {
    name: "gemini -p",
    npm: "@google/gemini-cli@0.61.0",
    command: ({ packages }) => [join(packages, ".bin/gemini")],
    prompt: () => ["-m", "gemini-2.5-pro", "-p", PROMPT],
    env: ({ url }) => ({
      GEMINI_API_KEY: "none",
      GEMINI_CLI_TRUST_WORKSPACE: "true",
      GOOGLE_GEMINI_BASE_URL: url,
    }),
    files: () => ({
      ".gemini/settings.json": {
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
        general: { disableAutoUpdate: true },
      },
    }),
  },
];
