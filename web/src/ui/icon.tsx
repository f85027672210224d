const paths = {
  run: "M6 4l12 8-12 8z",
  stop: "M6 6h12v12H6z",
  notebook: "M6 3h12v18H6zM10 3v18M13 8h3M13 12h3",
  files: "M4 20V5h6l2 2h8v13z",
  tests: "M4 12l5 5L20 6",
  search: "M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM16 16l5 5",
  sandboxes: "M4 8l8-4 8 4v8l-8 4-8-4zM4 8l8 4 8-4M12 12v8",
  about: "M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zM12 11v6M12 7.5v.5",
  keyboard: "M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M8 14h8",
  sun: "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5L19 19M5 19l1.5-1.5M17.5 6.5L19 5",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
  close: "M6 6l12 12M18 6L6 18",
  plus: "M12 5v14M5 12h14",
  up: "M12 19V5M6 11l6-6 6 6",
  down: "M12 5v14M6 13l6 6 6-6",
  right: "M9 6l6 6-6 6",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  upload: "M12 16V4M7 9l5-5 5 5M4 20h16",
  download: "M12 4v12M7 11l5 5 5-5M4 20h16",
  restart: "M4 12a8 8 0 1 0 3-6.2M4 4v5h5",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  folder: "M3 19V5h6l2 2h10v12z",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  follow: "M12 4v13M6 11l6 6 6-6M5 21h14",
  leave: "M10 4H5v16h5M9 12h12M17 8l4 4-4 4",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
} as const;

export type IconName = keyof typeof paths;

/** A picture beside words: it says nothing to who cannot see it. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
