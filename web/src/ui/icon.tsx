// Drawn icons. They say nothing by themselves: the control around an icon has the words.

const PATHS = {
  close: 'M4 4l8 8M12 4l-8 8',
  menu: 'M2 4h12M2 8h12M2 12h12',
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.5 10.5l3.5 3.5',
  devices: 'M2 3h12v7H2zM5.5 13.5h5M8 10v3.5',
  overview: 'M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z',
  chat: 'M2.5 3h11v7.5h-6L4.5 13v-2.500h-2z',
  book: 'M3 2.500h8.500a1 1 0 0 1 1 1v10H4.500a1.500 1.500 0 0 1-1.500-1.500zM3 12a1.500 1.500 0 0 1 1.500-1.500h8',
  out: 'M6.500 2.500h-4v11h4M10 5l3 3-3 3M13 8H6',
  filter: 'M2 3.500h12M4.500 8h7M6.500 12.500h3',
  download: 'M8 2.500v7.500M5 7.500l3 3 3-3M2.500 13.500h11',
  up: 'M8 13V3M4 7l4-4 4 4',
  down: 'M8 3v10M4 9l4 4 4-4',
  copy: 'M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3',
  back: 'M10 3L5 8l5 5',
  warning: 'M8 2.500l6 11H2zM8 7v3M8 11.700v.1',
  tag: 'M2.500 2.500h5l6 6-5 5-6-6zM5.200 5.200v.1',
  plus: 'M8 3v10M3 8h10',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
