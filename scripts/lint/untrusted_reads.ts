import { isCodeIn } from "./directories.ts";

/** Calls that read a file without the checks of `src/platform/untrusted_file.ts`. */
const READS = /^(?:readFile|readFileSync|readTextFile|readTextFileSync|createReadStream|copyFile)$/;
const OPENS = /^(?:open|openSync)$/;
const WRITES = /\b(?:write|append): true\b/;

/**
 * Keeps raw reads out of code that works on files of a project: a command or a model could have made the file, so that
 * a read blocks, never ends, or follows a link to a key.
 */
export const untrustedReads: Deno.lint.Rule = {
  create(context) {
    if (!isCodeIn("src/tools|src/patch", context.filename)) return {};
    return {
      CallExpression(node) {
        const { callee } = node;
        if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return;
        if (!/(?:^|\.)(?:system|fs|promises)$/.test(context.sourceCode.getText(callee.object))) {
          return;
        }
        const { name } = callee.property;
        const opensToRead = OPENS.test(name) &&
          !WRITES.test(context.sourceCode.getText(node));
        if (!READS.test(name) && !opensToRead) return;
        context.report({
          node,
          message: `${name}() reads a file that a command could have made.`,
          hint: "Use readUntrustedFile() or readSmallFile() of src/platform.",
        });
      },
    };
  },
};
