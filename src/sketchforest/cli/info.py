"""`sketchforest info`."""

from sketchforest.cli.options import JsonOption, ModelArgument, console, load_model, print_json


def info(model: ModelArgument, json: JsonOption = False) -> None:
    """Describe a model: sizes, settings, labels, out-of-bag score, important features.

    Example:  sketchforest info model.sf --json
    """
    from sketchforest.cli.model_views import describe, show_model

    about = describe(load_model(model), model)
    if json:
        print_json(about)
    else:
        show_model(about, model, console())
