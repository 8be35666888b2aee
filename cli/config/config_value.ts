/**
 * Values of the configuration and where they come from.
 *
 * @module
 */

import type { Hook } from "../hooks/hook.ts";

/** A value of a key. */
export type ConfigValue = string | number | boolean | readonly string[];

/** A checked value, or what is wrong with it, as a sentence without a full stop. */
export type CheckedConfigValue =
  | { readonly type: "valid"; readonly value: ConfigValue }
  | { readonly type: "invalid"; readonly message: string };

/** The source of a value. */
export type ConfigOrigin =
  /** The configuration file of the user, or that of the project. */
  | { readonly type: "user" | "project"; readonly file: string }
  /** An environment variable. */
  | { readonly type: "environment"; readonly variable: string }
  /** An argument of `--config`. */
  | { readonly type: "override"; readonly text: string };

/** A value with its source. */
export interface ConfigSetting {
  /** Name of the key. */
  readonly key: string;
  /** The value, which the definition of the key allows. */
  readonly value: ConfigValue;
  /** The source; the last one of several whose values are combined. */
  readonly origin: ConfigOrigin;
  /** The settings whose values are combined, in the order of their sources. Default: it is the only one. */
  readonly parts?: readonly ConfigSetting[];
}

/** Returns the settings whose values a setting combines. */
export function listParts(setting: ConfigSetting): readonly ConfigSetting[] {
  return setting.parts ?? [setting];
}

/** A part of the configuration that was ignored or refused. */
export interface ConfigProblem {
  /** Whether the part is ignored with a warning, or the program ends. */
  readonly type: "warning" | "error";
  /** The source. */
  readonly origin: ConfigOrigin;
  /** Line of a file, from 1; `undefined` when it is unknown. */
  readonly line?: number | undefined;
  /** The key with an invalid value. Default: the problem is another one. */
  readonly key?: string | undefined;
  /** The problem and how to correct it, as a sentence without a full stop. */
  readonly message: string;
}

/** The settings of one source. */
export interface ConfigLayer {
  /** The valid settings. */
  readonly settings: readonly ConfigSetting[];
  /** The hooks. Default: none. */
  readonly hooks?: readonly Hook[];
  /** The other parts. */
  readonly problems: readonly ConfigProblem[];
}

/** Returns a source as the subject of a message: the path of a file, or `--config a=b`. */
export function formatOrigin(origin: ConfigOrigin): string {
  switch (origin.type) {
    case "user":
    case "project":
      return origin.file;
    case "environment":
      return origin.variable;
    case "override":
      return `--config ${origin.text}`;
  }
}

/** Names the sources of a setting. */
export function formatOrigins(setting: ConfigSetting): string {
  return listParts(setting).map(({ origin }) => formatOrigin(origin)).join(", ");
}

/** Formats a problem as one line: the source, the line of a file, and the message. */
export function formatConfigProblem({ origin, line, message }: ConfigProblem): string {
  return `${formatOrigin(origin)}${line === undefined ? "" : `:${line}`}: ${message}`;
}
