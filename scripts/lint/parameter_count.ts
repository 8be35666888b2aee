import { isCodeIn } from "./directories.ts";

const MAX_PARAMETERS = 4;

/** Limits the number of parameters to four. */
export const parameterCount: Deno.lint.Rule = {
  create(context) {
    if (!isCodeIn("src|adapters|cli", context.filename)) return {};

    function check(node: Deno.lint.FunctionDeclaration | Deno.lint.FunctionExpression): void {
      if (node.params.length <= MAX_PARAMETERS) return;
      context.report({
        node,
        message:
          `This function has ${node.params.length} parameters; the limit is ${MAX_PARAMETERS}.`,
        hint: "Use two parameters and an options object.",
      });
    }

    return { FunctionDeclaration: check, FunctionExpression: check };
  },
};
