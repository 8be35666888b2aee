import { isCodeIn } from "./directories.ts";

const MAX_LINES = 80;

type AnyFunction =
  | Deno.lint.FunctionDeclaration
  | Deno.lint.FunctionExpression
  | Deno.lint.ArrowFunctionExpression;

/** Limits the length of a function to 80 lines. */
export const functionLength: Deno.lint.Rule = {
  create(context) {
    if (!isCodeIn("src|adapters|cli", context.filename)) return {};

    function check(node: AnyFunction): void {
      const lines = context.sourceCode.getText(node).split("\n").length;
      if (lines <= MAX_LINES) return;
      context.report({
        node,
        message: `This function has ${lines} lines; the limit is ${MAX_LINES}.`,
        hint: "Extract its stages into functions that pass values.",
      });
    }

    return {
      FunctionDeclaration: check,
      FunctionExpression: check,
      ArrowFunctionExpression: check,
    };
  },
};
