const MAX_LINES = 500;

/** A file holds one idea. */
export const fileLength: Deno.lint.Rule = {
  create(context) {
    return {
      Program(node) {
        const lines = context.sourceCode.text.split("\n").length - 1;
        if (lines <= MAX_LINES) return;
        context.report({
          node,
          message: `This file has ${lines} lines; ${MAX_LINES} are the limit.`,
          hint: "Ask whether it holds one idea, and split it where the second begins.",
        });
      },
    };
  },
};
