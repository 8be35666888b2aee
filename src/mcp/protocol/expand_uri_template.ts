/**
 * Replaces the variables of URI templates (RFC 6570, levels 1 to 3).
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";

/** How the expressions of an operator are written: the text before them, between two values, and whether names are. */
interface Operator {
  readonly first: string;
  readonly separator: string;
  readonly isNamed?: boolean;
  /** The text after the name of an empty value. */
  readonly afterEmpty?: string;
  /** Whether reserved characters such as `/` stay. */
  readonly keepsReserved?: boolean;
}

const PLAIN: Operator = { first: "", separator: "," };

const OPERATORS: ReadonlyMap<string, Operator> = new Map([
  ["+", { first: "", separator: ",", keepsReserved: true }],
  ["#", { first: "#", separator: ",", keepsReserved: true }],
  [".", { first: ".", separator: "." }],
  ["/", { first: "/", separator: "/" }],
  [";", { first: ";", separator: ";", isNamed: true, afterEmpty: "" }],
  ["?", { first: "?", separator: "&", isNamed: true, afterEmpty: "=" }],
  ["&", { first: "&", separator: "&", isNamed: true, afterEmpty: "=" }],
]);

/**
 * Returns a URI with the variables of a template replaced. A variable without a value is left out.
 *
 * @throws {BadRequestError} If the template is invalid, or uses prefixes or lists (level 4).
 *
 * @example
 * ```ts
 * import { expandUriTemplate } from "@swink/agent/mcp";
 *
 * expandUriTemplate("notes://{user}/{+path}{?page}", { user: "a b", path: "x/y", page: "2" });
 * // "notes://a%20b/x/y?page=2"
 * ```
 */
export function expandUriTemplate(
  template: string,
  values: Readonly<Record<string, string>>,
): string {
  const uri = template.replaceAll(
    /\{([^{}]*)\}/g,
    (_match, expression: string) => expand(expression, values),
  );
  const rest = template.replaceAll(/\{[^{}]*\}/g, "");
  if (!/[{}]/.test(rest)) return uri;
  throw new BadRequestError("The URI template is invalid: it has a brace without its counterpart");
}

function expand(expression: string, values: Readonly<Record<string, string>>): string {
  const operator = OPERATORS.get(expression.charAt(0));
  const { first, separator } = operator ?? PLAIN;
  const names = (operator ? expression.slice(1) : expression).split(",");
  const parts = names.flatMap((name) => {
    checkName(name);
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    return value === undefined ? [] : [formatValue(name, value, operator ?? PLAIN)];
  });
  return parts.length === 0 ? "" : first + parts.join(separator);
}

function checkName(name: string): void {
  if (/^[\w.%]+$/.test(name)) return;
  throw new BadRequestError(
    `The URI template is invalid: ${
      JSON.stringify(name)
    } is no name of a variable; prefixes and lists are not supported`,
  );
}

function formatValue(
  name: string,
  value: string,
  { isNamed = false, afterEmpty = "", keepsReserved = false }: Operator,
): string {
  const encoded = keepsReserved ? encodeKeepingReserved(value) : encodeStrictly(value);
  if (!isNamed) return encoded;
  return encoded === "" ? `${name}${afterEmpty}` : `${name}=${encoded}`;
}

/** Encodes all characters but letters, digits and `-._~`. */
function encodeStrictly(value: string): string {
  return encodeURIComponent(value.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Encodes what is neither reserved nor encoded already. */
function encodeKeepingReserved(value: string): string {
  const encoded = encodeURI(value.toWellFormed());
  return encoded.replaceAll(/%25([0-9A-Fa-f]{2})/g, "%$1").replaceAll("%5B", "[")
    .replaceAll("%5D", "]");
}
