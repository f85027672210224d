import { useEffect, useRef, useState } from "preact/hooks";

import { dark } from "../frame/theme";

const maxHeight = 800;

/**
 * Shows HTML of users' code. The frame has no origin and can load nothing: it
 * neither reads these pages nor tells anybody anything.
 */
export function HtmlFrame({ html, title }: { html: string; title: string }) {
  const ref = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(60);
  useEffect(() => {
    const hear = (e: MessageEvent) => {
      const frame = ref.current;
      if (!frame || e.source !== frame.contentWindow || typeof e.data !== "object" || !e.data) return;
      if (e.data.ready === true) frame.contentWindow!.postMessage({ html, dark: dark.peek() }, "*");
      if (Number.isFinite(e.data.height)) setHeight(Math.min(Math.max(e.data.height, 20), maxHeight));
    };
    addEventListener("message", hear);
    return () => removeEventListener("message", hear);
  }, [html]);
  return (
    <iframe
      key={String(dark.value)}
      ref={ref}
      class="html-frame"
      src="/app/frame"
      sandbox="allow-scripts"
      title={title}
      style={{ height: `${height}px` }}
    />
  );
}
