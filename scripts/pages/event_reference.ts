/**
 * The reference of events, generated from their types.
 *
 * @module
 */

import ts from "typescript";
import { formatTable } from "./markdown_table.ts";

/** Formats a section for each event of the union `AgentEventBody`, in its order. */
export function formatEventReference(source: string): string {
  const file = ts.createSourceFile("event.ts", source, ts.ScriptTarget.Latest, true);
  const interfaces = new Map(
    file.statements.filter(ts.isInterfaceDeclaration).map((node) => [node.name.text, node]),
  );
  return listUnion(file, "AgentEventBody").map((name) => {
    const event = interfaces.get(name);
    if (!event) throw new Error(`${name} is no interface of the file`);
    const bases = (event.heritageClauses ?? []).flatMap(({ types }) =>
      types.map(({ expression }) => interfaces.get(expression.getText()))
    );
    const members = [event, ...bases].flatMap((declaration) => declaration?.members ?? []);
    return formatEvent(event, members.filter(ts.isPropertySignature));
  }).join("\n");
}

function listUnion(file: ts.SourceFile, name: string): string[] {
  const alias = file.statements.filter(ts.isTypeAliasDeclaration).find((node) =>
    node.name.text === name
  );
  if (!alias || !ts.isUnionTypeNode(alias.type)) throw new Error(`${name} is no union`);
  return alias.type.types.map((type) => type.getText());
}

function formatEvent(
  event: ts.InterfaceDeclaration,
  properties: readonly ts.PropertySignature[],
): string {
  const type = properties.find(({ name }) => name.getText() === "type")?.type?.getText() ?? "";
  const rows = properties.filter(({ name }) => name.getText() !== "type").map((property) => [
    `\`${property.name.getText()}${property.questionToken ? "?" : ""}\``,
    `\`${formatType(property)}\``,
    readComment(property),
  ]);
  const table = rows.length > 0 ? `\n${formatTable(["property", "type", "content"], rows)}` : "";
  return `### \`${JSON.parse(type)}\`\n\n${readComment(event)}\n${table}`;
}

/** An optional property may be `undefined`, which `exactOptionalPropertyTypes` requires to be stated. */
function formatType({ type, questionToken }: ts.PropertySignature): string {
  const text = type?.getText().replaceAll(/\s+/g, " ") ?? "unknown";
  return questionToken ? text.replace(/ \| undefined$/, "") : text;
}

/** Returns the comment of a declaration as one paragraph, with links as code. */
function readComment(node: ts.Node): string {
  const comments = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  const text = ts.getTextOfJSDocComment(comments.at(-1)?.comment) ?? "";
  return text.replaceAll(/\{@link(?:code)? ([^}]+)\}/g, "`$1`").replaceAll(/\s+/g, " ").trim();
}
