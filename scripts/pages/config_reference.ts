/**
 * The reference of the configuration, generated from its JSON Schema.
 *
 * @module
 */

import { formatTable } from "./markdown_table.ts";

/** The parts of a schema that the reference shows. */
export interface ConfigSchema {
  readonly description?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly anyOf?: readonly ConfigSchema[];
  readonly items?: ConfigSchema;
  readonly properties?: Readonly<Record<string, ConfigSchema>>;
  readonly additionalProperties?: boolean | ConfigSchema;
}

const NOTE = "Ignored in a project's file.";

/** Formats a table of the keys of the top level, and a section for each table. */
export function formatConfigReference({ properties = {} }: ConfigSchema): string {
  const entries = Object.entries(properties);
  const keys = entries.filter(([, schema]) => schema.type !== "object");
  const tables = entries.filter(([, schema]) => schema.type === "object");
  return [
    "## Keys\n",
    formatKeys(keys),
    ...tables.flatMap(([name, schema]) => formatSection(name, schema)),
  ].join("\n");
}

function formatSection(name: string, schema: ConfigSchema): string[] {
  const { properties, additionalProperties } = schema;
  if (typeof additionalProperties === "object") {
    return [
      `## Tables \`[${name}.NAME]\`\n`,
      formatKeys(Object.entries(additionalProperties.properties ?? {})),
    ];
  }
  const [first] = Object.values(properties ?? {});
  if (first?.type !== "array") {
    return [`## Table \`[${name}]\`\n`, formatKeys(Object.entries(properties ?? {}))];
  }
  const events = Object.keys(properties ?? {}).map((event) => `- \`${event}\`\n`).join("");
  return [
    `## Lists \`[[${name}.EVENT]]\`\n`,
    "`EVENT` is one of:\n",
    events,
    formatKeys(Object.entries(first.items?.properties ?? {})),
  ];
}

function formatKeys(keys: readonly (readonly [string, ConfigSchema])[]): string {
  const rows = keys.map(([name, schema]) => {
    const description = schema.description ?? "";
    return [
      `\`${name}\``,
      formatType(schema),
      description.includes(NOTE) ? "no" : "yes",
      description.replace(NOTE, "").trim().replaceAll("*", "\\*"),
    ];
  });
  return formatTable(["key", "value", "in a project's file", "effect"], rows);
}

function formatType({ type, anyOf, minimum }: ConfigSchema): string {
  if (anyOf) return "list of texts, or a text";
  const kind = type === "string" ? "text" : type === "boolean" ? "true or false" : type ?? "any";
  return minimum === undefined ? kind : `${kind}, at least ${minimum}`;
}
