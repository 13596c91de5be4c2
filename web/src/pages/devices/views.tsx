// The views of the list of devices that a person has saved: search, filters, order and columns under a name.

import { useSignal } from '@preact/signals';

import { dropView, keepView, LONGEST_NAME, savedViews, type SavedView } from '../../data/saved_views';
import { me } from '../../data/store';
import { text } from '../../text';
import { brief } from '../../text/visible';
import { Icon } from '../../ui/icon';
import { Menu } from '../../ui/menu';
import { notice } from '../../ui/notices';
import { Foreign } from '../../ui/parts';
import { go, query } from '../../ui/router';

export function ViewsMenu() {
  const user = me.value?.user_id;
  if (user === undefined) return null;
  return <Menu icon="bookmark" label={text.views.menu} body={(close) => <Views user={user} close={close} />} />;
}

function Views({ user, close }: { user: string; close: () => void }) {
  const views = useSignal(savedViews(user));
  const now = query.value.toString();
  const open = (view: SavedView): void => {
    close();
    go(view.query === '' ? '/devices' : `/devices?${view.query}`);
  };
  const drop = ({ name }: SavedView): void => {
    if (!dropView(user, name)) notice(text.views.refused, 'bad');
    views.value = savedViews(user);
  };
  const save = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const name = String(new FormData(form).get('name')).trim();
    if (name === '') return;
    if (keepView(user, { name, query: now })) form.reset();
    else notice(text.views.refused, 'bad');
    views.value = savedViews(user);
  };
  return (
    <>
      <form class="term-field" onSubmit={save}>
        <input name="name" aria-label={text.views.name} placeholder={text.views.name} required maxLength={LONGEST_NAME} autocomplete="off" />
        <button type="submit" class="button">
          {text.views.save}
        </button>
      </form>
      <fieldset>
        <legend>{text.views.saved}</legend>
        {views.value.length === 0 && <p class="soft small">{text.views.none}</p>}
        {views.value.map((view) => (
          <div key={view.name} class="saved-view">
            <button type="button" aria-current={view.query === now} onClick={() => open(view)}>
              <Foreign>{view.name}</Foreign>
            </button>
            <button type="button" class="icon-button" aria-label={text.views.drop(brief(view.name))} onClick={() => drop(view)}>
              <Icon name="close" />
            </button>
          </div>
        ))}
      </fieldset>
      <p class="soft small">{text.views.where}</p>
    </>
  );
}
