/**
 * The interpreter of chat templates, loaded on first use.
 *
 * @module
 */

import type { Template } from "@huggingface/jinja";
import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";

/** A parsed template. It renders texts, and throws if the template does. */
export type JinjaTemplate = Pick<Template, "render">;

/** The used part of `@huggingface/jinja`. */
interface JinjaPackage {
  readonly Template: new (source: string) => JinjaTemplate;
}

/** The npm package and its version range, equal to that in deno.json. */
const JINJA_PACKAGE = { name: "@huggingface/jinja", range: "^0.5.10" } as const;

let pendingPackage: Promise<JinjaPackage> | undefined;

/**
 * Parses a template.
 *
 * @throws {BadRequestError} If the template is invalid, or the npm package `@huggingface/jinja` is not installed.
 */
export async function parseTemplate(source: string): Promise<JinjaTemplate> {
  pendingPackage ??= importPackage();
  let loaded: JinjaPackage;
  try {
    loaded = await pendingPackage;
  } catch (cause) {
    pendingPackage = undefined;
    const problem = `Chat templates need the npm package ${JINJA_PACKAGE.name}; install it`;
    throw new BadRequestError(`${problem}: ${getErrorMessage(cause)}`, { cause });
  }
  try {
    return new loaded.Template(source);
  } catch (cause) {
    const problem = "The chat template of the model is invalid";
    throw new BadRequestError(`${problem}: ${getErrorMessage(cause)}`, { cause });
  }
}

/** The specifiers are not literals, because Deno and bundlers would load the package with every program. */
async function importPackage(): Promise<JinjaPackage> {
  const { name, range } = JINJA_PACKAGE;
  const specifier = `npm:${name}@${range}`;
  try {
    return await import(/* webpackIgnore: true */ specifier);
  } catch {
    // Runtimes without npm: specifiers resolve installed packages by name.
    const installed: string = name;
    return await import(/* webpackIgnore: true */ installed);
  }
}
