// A setting that holds as soon as it is switched, with no button that saves it.

import { useId } from 'preact/hooks';

import './switch.css';

interface Props {
  label: string;
  hint: string;
  on: boolean;
  put: (on: boolean) => void;
}

export function Switch({ label, hint, on, put }: Props) {
  const id = useId();
  return (
    <div class="switch">
      <label>
        <input type="checkbox" role="switch" checked={on} aria-describedby={id} onChange={(event) => put(event.currentTarget.checked)} />
        {label}
      </label>
      <p class="hint" id={id}>
        {hint}
      </p>
    </div>
  );
}
