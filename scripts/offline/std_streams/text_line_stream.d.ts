export declare class TextLineStream extends TransformStream<string, string> {
  constructor();
}
