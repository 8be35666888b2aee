/**
 * Checks the names and the values of the options of a sandbox, for programs without types.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import { checkObject } from "../../core/checks/check_object.ts";
import { describeValue } from "../../core/errors/describe_value.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import type { SandboxOptions } from "./sandbox_options.ts";

/** The values that an option accepts, and their description for messages. */
interface Expectation {
  readonly accepts: (value: unknown) => boolean;
  readonly description: string;
}

const TEXT: Expectation = {
  accepts: (value) => typeof value === "string",
  description: "a text",
};

const TEXTS: Expectation = {
  accepts: (value) => Array.isArray(value) && value.every(TEXT.accepts),
  description: "an array that has only texts",
};

const BOOLEAN: Expectation = {
  accepts: (value) => typeof value === "boolean",
  description: "true or false",
};

const VARIABLES: Expectation = {
  accepts: (value) =>
    isJsonObject(value) &&
    Object.values(value).every((text) => text === undefined || TEXT.accepts(text)),
  description: "an object whose values are texts",
};

const NET: Expectation = {
  accepts: (value) => value === "on" || value === "off" || TEXTS.accepts(value),
  description: '"on", "off" or an array of hosts',
};

/** Of all options: a misspelt name or value would be a limit that is not enforced. */
const EXPECTATIONS: Readonly<Record<keyof SandboxOptions, Expectation>> = {
  cwd: TEXT,
  writeRoots: TEXTS,
  homeAccess: oneOf("refuse", "allow"),
  readRoots: TEXTS,
  protect: TEXTS,
  hide: TEXTS,
  net: NET,
  unixSockets: BOOLEAN,
  confinement: oneOf("auto", "required", "off"),
  readOnly: BOOLEAN,
  passEnvironment: TEXTS,
  environment: VARIABLES,
};

/** The names of the options of `createSandbox()`. */
export const SANDBOX_OPTIONS: readonly string[] = Object.keys(EXPECTATIONS);

/** Checks the options of `createSandbox()`. @throws {BadRequestError} If one is unknown or has a wrong value. */
export function checkSandboxOptions(options: SandboxOptions): void {
  checkObject(options, "The options of createSandbox() must be an object, such as { cwd }");
  checkNames(options, SANDBOX_OPTIONS, "createSandbox()");
  for (const [name, expectation] of Object.entries(EXPECTATIONS)) {
    checkValue(name, options[name as keyof SandboxOptions], expectation);
  }
}

/** Checks the network access of commands. @throws {BadRequestError} If the value is none. */
export function checkNet(net: unknown): void {
  checkValue("net", net, NET);
}

function checkValue(name: string, value: unknown, { accepts, description }: Expectation): void {
  if (value === undefined || accepts(value)) return;
  throw new BadRequestError(
    `The option ${name} of the sandbox must be ${description}, not ${describeValue(value)}`,
  );
}

function oneOf(...values: readonly string[]): Expectation {
  const names = values.map((value) => JSON.stringify(value));
  return {
    accepts: (value) => values.some((known) => known === value),
    description: `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`,
  };
}
