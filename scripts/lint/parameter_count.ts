import { isCodeIn } from "./directories.ts";

const MAX_PARAMETERS = 4;

/** More parameters than these are confused with each other where they are called. */
export const parameterCount: Deno.lint.Rule = {
  create(context) {
    if (!isCodeIn("src|adapters|cli", context.filename)) return {};

    function check(node: Deno.lint.FunctionDeclaration | Deno.lint.FunctionExpression): void {
      if (node.params.length <= MAX_PARAMETERS) return;
      context.report({
        node,
        message: `${node.params.length} parameters; ${MAX_PARAMETERS} are the limit.`,
        hint: "Take two and an options object.",
      });
    }

    return { FunctionDeclaration: check, FunctionExpression: check };
  },
};
